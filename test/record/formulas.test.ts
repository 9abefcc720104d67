// A formula is found wherever a configuration computes, and nowhere else; in another order nothing but its numbers is touched.
import fc from 'fast-check'
import t from 'tap'
import { formulasIn, renumber } from '../../src/record/formulas.js'

const ids = ['12', '7', '9007199254740993', '31', '4', '55', '66', '77', '88', '99', '100']
const order = fc.shuffledSubarray(ids)
const term = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map(number => `c${number}`),
  fc.constantFrom('\n', ...'2* + - . 0.5 abc1 c2x c01 (c1) é _c3 < > "'.split(' '), ' '),
)
const markup = fc.constantFrom(
  '<step label="c3">',
  '</step>',
  '<![CDATA[',
  ']]>',
  '<!-- c4 -->',
  "<c7 a='c8>c9'/>",
  '<cid_formula>12+7</cid_formula>',
  '<unclosed ',
)
const configuration = fc
  .array(fc.oneof({ weight: 4, arbitrary: term }, markup), { maxLength: 20 })
  .map(parts => parts.join(''))

const same = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** The formulas with every cN written as the id it stands for. */
const meaning = (text: string, list: readonly string[]): readonly string[] =>
  formulasIn(text).texts.map(formula =>
    formula.replace(
      /(?<![\w.])c([1-9][0-9]*)(?!\w)/g,
      (was, number) => `#${list[Number(number) - 1] ?? was}`,
    ),
  )

t.test('CLI-12 every formula means the calculations it meant, or is named as lost', async () => {
  fc.assert(
    fc.property(configuration, order, order, (text, before, after) => {
      const result = renumber(text, before, after)
      const used = formulasIn(text)
      const needed = [
        ...used.places.flatMap(number => before[number - 1] ?? []),
        ...used.ids.filter(id => before.includes(id)),
      ]
      const isLost = needed.some(id => !after.includes(id))
      if ('lost' in result)
        return isLost && result.lost.every(({ calculation }) => !after.includes(calculation))
      // A place behind the old list meant nothing; behind the new one it still does.
      const isAwake = used.places.some(number => number > before.length && number <= after.length)
      if (isLost || isAwake) return !isLost && result.fresh.length > 0
      return same(meaning(text, before), meaning(result.renumbered, after))
    }),
    { numRuns: 2000 },
  )
})

t.test('what is no number of a formula stays letter for letter', async () => {
  const bare = (text: string) => text.replace(/c[0-9]+/g, 'c')
  fc.assert(
    fc.property(configuration, order, order, (text, before, after) => {
      const result = renumber(text, before, after)
      return 'lost' in result || bare(result.renumbered) === bare(text)
    }),
    { numRuns: 1000 },
  )
})

t.test('there and back is where it began', async () => {
  fc.assert(
    fc.property(configuration, fc.shuffledSubarray(ids, { minLength: ids.length }), (text, after) => {
      const there = renumber(text, ids, after)
      if ('lost' in there) return false
      const back = renumber(there.renumbered, after, ids)
      return 'renumbered' in back && back.renumbered === text
    }),
    { numRuns: 1000 },
  )
})

t.test('a swap is one step, not two', async t => {
  t.same(renumber('<step label="c1">c1+2*c2-c12</step><!-- c1 -->', ['7', '12'], ['12', '7']), {
    renumbered: '<step label="c1">c2+2*c1-c12</step><!-- c1 -->',
    fresh: [],
  })
  t.same(renumber('c1+c2', ['7', '12'], ['12']), { lost: [{ formula: 'c1', calculation: '7' }] })
  t.same(renumber('<cid_formula>7-12</cid_formula>', ['7', '12'], ['7']), {
    lost: [{ formula: "the graph's 12", calculation: '12' }],
  })
})

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
