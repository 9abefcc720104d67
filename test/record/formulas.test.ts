// A formula is found wherever a configuration computes, and nowhere else.
import t from 'tap'
import { formulasIn, untouchedFormulas } from '../../src/record/formulas.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'

t.test('places stand in the text of the configuration, not in its attributes and names', async t => {
  const configuration =
    '<configuration><c7 a="c8>c9"/><step label="c3">c1 + 2*c2-c1</step><!-- c4 --><step><![CDATA[c10]]></step> abc5 c6x</configuration>'
  t.match(formulasIn(configuration), { places: [1, 2, 10], ids: [], texts: ['c1 + 2*c2-c1', 'c10'] })
})

t.test('a graph computes with ids', async t => {
  t.match(
    formulasIn('<graph><node cid_formula="12+9007199254740993"/><cid_formula>7</cid_formula></graph>'),
    {
      places: [],
      ids: ['12', '9007199254740993', '7'],
      texts: ['12+9007199254740993', '7'],
    },
  )
})

t.test('a text that is no XML is looked through all the same, and ends in time', async t => {
  t.same(formulasIn('c1+c2 < 3 <unclosed "').places, [1, 2])
  t.same(formulasIn('').places, [])
  t.same(formulasIn(`${'<a "'.repeat(20_000)}c1`).places, [1])
})

t.test('an edit touches the formulas that it changes, and those that it moves', async t => {
  const steps = (...texts: string[]) => formulasIn(texts.map(text => `<s>${text}</s>`).join(''))
  const left = (before: string[], after: string[]) =>
    untouchedFormulas(steps(...before), steps(...after)).texts
  t.same(left(['c1', 'c2', 'c3'], ['c1', 'c3', 'c2']), ['c1'])
  t.same(left(['c1', 'c2', 'c3'], ['c1', 'c2+c4', 'c3']), ['c1', 'c3'])
  t.same(left(['c1', 'c2', 'c3'], ['c1', 'c3']), ['c1', 'c3'])
  t.same(left(['c1', 'c3'], ['c9', 'c1', 'c3']), ['c1', 'c3'])
  t.same(left([], ['c1']), [])
  t.same(left(['c1'], []), [])
  t.same(
    left(['c1', 'c2', 'c3', 'c4'], ['c9', 'c2', 'c3', 'c8', 'c7']),
    ['c2', 'c3'],
    'between two that differ',
  )
})

t.test('a label that stands once tells which formula is which', async t => {
  const labelled = (texts: Record<string, string>) =>
    formulasIn(
      Object.entries(texts)
        .map(([label, text]) => `<step label="${label}"><f>${text}</f></step>`)
        .join(''),
    )
  const left = (before: Record<string, string>, after: Record<string, string>) =>
    untouchedFormulas(labelled(before), labelled(after)).texts
  t.same(
    left({ A: 'c1', B: 'c2' }, { A: 'c2', B: 'c1', N: 'c3' }),
    [],
    'two that were exchanged, and a new one',
  )
  t.same(left({ A: 'c1', B: 'c2' }, { B: 'c2', A: 'c1', N: 'c3' }).toSorted(), ['c1', 'c2'], 'moved alone')
  t.same(left({ A: 'c1', B: 'c2', C: 'c3' }, { N: 'c3', A: 'c1+c1', B: 'c2', C: 'c3' }), ['c2', 'c3'])
  t.same(left({ A: 'c1', B: 'c2' }, { B: 'c1', A: 'c2' }), [], 'labels that were exchanged')
  t.same(left({ A: 'c1', B: 'c2' }, { Z: 'c1', B: 'c2' }).toSorted(), ['c1', 'c2'], 'a label that was edited')
})

t.test('ten thousand formulas are compared in time', async t => {
  const many = (from: number) =>
    formulasIn(
      Array.from({ length: 10_000 }, (_, at) => `<s>c${((at * 7919 + from) % 10_000) + 1}</s>`).join(''),
    )
  const elapsed = stopwatch()
  untouchedFormulas(many(1), { ...many(5), steps: many(5).steps.slice(1) })
  t.ok(elapsed() < 5_000)
})
