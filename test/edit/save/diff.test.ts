// What counts as an edit, how edits of two users are merged, and that nothing else of a record changes.
import fc from 'fast-check'
import t from 'tap'
import {
  editsBetween,
  keptFields,
  merge,
  removed,
  unstoredFields,
  withEdits,
} from '../../../src/edit/save/diff.js'
import { equalJson } from '../../../src/record/json/equal.js'
import { fieldOf, type Json, type JsonObject, withField, without } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { compactPrint, prettyPrint } from '../../../src/record/json/print.js'
import { anyJson, anyObject } from '../../record/json/arbitrary.js'

const runs = { numRuns: 300 }
const object = parseObject

/** A few edits as a program makes them: fields set, added or taken away. */
const anyEdits = fc.array(
  fc.tuple(fc.constantFrom('a', 'b', 'title', '__proto__', '10'), fc.option(anyJson, { nil: undefined })),
  { maxLength: 4 },
)
const edited = (record: JsonObject, edits: readonly (readonly [string, Json | undefined])[]) =>
  edits.reduce(
    (now, [name, value]) => (value === undefined ? without(now, [name]) : withField(now, name, value)),
    record,
  )

t.test('white space, spelling and the order of fields are no edit', async t => {
  const base = object('{"a": 1.0, "b": [1, {"x": "é"}]}')
  t.equal(editsBetween(base, object('{"b":[1,{"x":"\\u00e9"}],"a":1}')).size, 0)
  fc.assert(
    fc.property(anyObject, record => {
      t.equal(editsBetween(record, object(prettyPrint(record))).size, 0)
    }),
    runs,
  )
})

t.test('the edits between two texts lead from one to the other', async t => {
  fc.assert(
    fc.property(anyObject, anyObject, (base, mine) => {
      t.ok(equalJson(withEdits(base, editsBetween(base, mine)), mine))
    }),
    runs,
  )
})

t.test('what was not edited goes back exactly, whatever it is', async t => {
  fc.assert(
    fc.property(anyObject, anyObject, anyEdits, (base, theirs, edits) => {
      const changes = editsBetween(base, edited(base, edits))
      const { whole } = merge(base, changes, theirs)
      const others = (record: JsonObject) => record.fields.filter(field => !changes.has(field.name))
      t.same(others(whole), others(theirs))
    }),
    runs,
  )
})

t.test('edits of different fields are both in the merged record', async t => {
  fc.assert(
    fc.property(anyObject, anyJson, anyJson, (base, mine, theirs) => {
      const changes = editsBetween(base, withField(base, 'mine', mine))
      const merged = merge(base, changes, withField(base, 'theirs', theirs))
      t.same(merged.conflicts, [])
      t.ok(equalJson(fieldOf(merged.whole, 'mine') as Json, mine))
      t.ok(equalJson(fieldOf(merged.whole, 'theirs') as Json, theirs))
    }),
    runs,
  )
})

t.test('the same edit twice agrees, and is not sent again', async t => {
  fc.assert(
    fc.property(anyObject, anyEdits, (base, edits) => {
      const mine = edited(base, edits)
      const merged = merge(base, editsBetween(base, mine), mine)
      t.same(merged.conflicts, [])
      t.equal(merged.edits.size, 0)
    }),
    runs,
  )
})

t.test('opposite edits of one field are a conflict, also where one takes it away', async t => {
  const base = object('{"title":"a","x":1}')
  const opposite = (mine: string, theirs: string) =>
    merge(base, editsBetween(base, object(mine)), object(theirs)).conflicts
  t.same(opposite('{"title":"b","x":1}', '{"title":"c","x":1}'), ['title'])
  t.same(opposite('{"x":1}', '{"title":"c","x":1}'), ['title'])
  t.same(opposite('{"title":"b","x":1}', '{"x":1}'), ['title'])
  t.same(opposite('{"title":"b","x":1}', '{"title":"b","x":2}'), [])
  t.same(opposite('{"x":1}', '{"x":1}'), [], 'both have taken it away')
})

t.test('an edit is made in its place, and a new field comes last', async t => {
  const base = object('{"z":1,"10":0.10,"a":2}')
  const changes = editsBetween(base, object('{"new":true,"z":1,"10":0.20,"a":2}'))
  t.equal(compactPrint(withEdits(base, changes)), '{"z":1,"10":0.20,"a":2,"new":true}')
})

t.test('a 200 that stored something else is found out', async t => {
  const edits = new Map<string, Json | typeof removed>([
    ['a', object('{"v":1}')],
    ['b', removed],
  ])
  t.same(unstoredFields(edits, object('{"a":{"v":1.0}}')), [])
  t.same(
    unstoredFields(edits, object('{"a":{"v":1},"b":null}')),
    [],
    'a field taken away may come back empty',
  )
  t.same(unstoredFields(edits, object('{"a":{"v":2},"b":3}')), ['a'])
  t.same(keptFields(edits, object('{"a":{"v":1},"b":3}')), ['b'], 'or be the service’s own')
  t.same(keptFields(edits, object('{"a":{"v":1},"b":null}')), [])
  t.same(unstoredFields(edits, object('{}')), ['a'])
})
