// What counts as an edit, and which edits of two users are opposite.
import fc from 'fast-check'
import t from 'tap'
import { editsBetween, keptSentence, merge, unstoredFields } from '../../../src/edit/save/diff.js'
import { equalJson } from '../../../src/record/json/equal.js'
import { type JsonObject, withEdits } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { prettyPrint } from '../../../src/record/json/print.js'
import { anyObject } from '../../record/json/arbitrary.js'

t.test('white space, spelling and the order of fields are no edit', async t => {
  const base = parseObject('{"a": 1.0, "b": [1, {"x": "é"}]}')
  t.equal(editsBetween(base, parseObject('{"b":[1,{"x":"\\u00e9"}],"a":1}')).size, 0)
  const isUnedited = (record: JsonObject) => editsBetween(record, parseObject(prettyPrint(record))).size === 0
  fc.assert(fc.property(anyObject, isUnedited), { numRuns: 300 })
})

t.test('the edits between two texts lead from one to the other', async t => {
  fc.assert(
    fc.property(anyObject, anyObject, (base, mine) => {
      t.ok(equalJson(withEdits(base, editsBetween(base, mine)), mine))
    }),
    { numRuns: 300 },
  )
})

t.test('opposite edits of one field are a conflict, also where one takes it away', async t => {
  const base = parseObject('{"title":"a","x":1}')
  const opposite = (mine: string, theirs: string) =>
    merge(base, editsBetween(base, parseObject(mine)), parseObject(theirs)).conflicts
  t.same(opposite('{"title":"b","x":1}', '{"title":"c","x":1}'), ['title'])
  t.same(opposite('{"x":1}', '{"title":"c","x":1}'), ['title'])
  t.same(opposite('{"title":"b","x":1}', '{"x":1}'), ['title'])
  t.same(opposite('{"title":"b","x":1}', '{"title":"b","x":2}'), [])
  t.same(opposite('{"x":1}', '{"x":1}'), [], 'both have taken it away')
})

t.test('a 200 that stored something else is found out', async t => {
  const edits = editsBetween(parseObject('{"b":0}'), parseObject('{"a":{"v":1}}'))
  const found = (stored: string) =>
    [unstoredFields, keptSentence].map(told => String(told(edits, parseObject(stored)) ?? ''))
  t.same(found('{"a":{"v":1.0}}'), ['', ''])
  t.same(found('{"a":{"v":1},"b":null}'), ['', ''], 'a field taken away may come back empty')
  t.same(
    found('{"a":{"v":2},"b":3}'),
    ['a', 'the service keeps "b", which the text left out'],
    'or be the service’s own',
  )
  t.same(found('{}'), ['a', ''])
})
