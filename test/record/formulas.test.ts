// A formula is found wherever a configuration computes, and nowhere else.
import t from 'tap'
import { formulasIn } from '../../src/record/formulas.js'

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
