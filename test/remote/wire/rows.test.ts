// The list of a report: read in every form, meant as its writer meant it, and written back in its own form.
import fc from 'fast-check'
import t from 'tap'
import { parseObject } from '../../../src/record/json/parse.js'
import { compactPrint } from '../../../src/record/json/print.js'
import type { CalculationId, ReportRow } from '../../../src/remote/remote.js'
import { Wire } from '../../../src/remote/wire/wire.js'

const { dialect } = new Wire({}, () => {})
const id = fc.bigInt({ min: 0n, max: 9223372036854775807n }).map(String)
const ids = (list: readonly { readonly calculation: string }[] | undefined) =>
  list?.map(row => row.calculation)
const rows = (...list: string[]) => list.map(it => ({ calculation: it as CalculationId, title: undefined }))

t.test('the list of a report is read as ids, as rows, or not at all', async t => {
  const read = (text: string) => ids(dialect.lists.rows(parseObject(text)))
  t.same(read('{"listCalculations":"12, 7,9007199254740993"}'), ['12', '7', '9007199254740993'])
  t.same(read('{"calculations":[12,"7"]}'), ['12', '7'])
  t.same(read('{"calculations":[]}'), [])
  t.same(read('{"listCalculations":""}'), [])
  t.same(read('{"rows":[{"calcId":7,"calcOrder":2},{"calcId":12,"calcOrder":1}]}'), ['12', '7'])
  t.equal(read('{"title":"x"}'), undefined)
  t.equal(read('{"calculations":null}'), undefined, 'null shows nothing')
  t.equal(read('{"calculations":[{"x":1}]}'), undefined, 'a list that makes no sense shows nothing')
  t.equal(dialect.lists.fieldIn(parseObject('{"rows":[{"calcId":7}]}')), 'rows')
})

t.test('what a user writes into the list is an id, a path or nonsense', async t => {
  const entries = (text: string) => dialect.lists.entries(parseObject(text))
  const written = entries(
    '{"calculations":[12,"7","/db/anna/a, b/TS1",{"path":"projects/x","title":"T"},{"calcId":"8"},-3,"3.5",true,""]}',
  )
  t.same(
    written?.map(entry =>
      entry.as === 'id' ? entry.calculation : entry.as === 'path' ? entry.path : entry.as,
    ),
    ['12', '7', '/db/anna/a, b/TS1', 'projects/x', '8', 'nonsense', 'nonsense', 'nonsense', 'nonsense'],
  )
  const text = entries('{"listCalculations":"12,/db/anna/a, b/TS1,7,"}')
  t.same(
    text?.map(entry => (entry.as === 'nonsense' ? '' : entry.as === 'id' ? entry.calculation : entry.path)),
    ['12', '/db/anna/a, b/TS1', '7'],
  )
})

t.test('a list is written back in its own form, and rows keep what calcfs does not know', async t => {
  const write = (text: string, ...list: string[]) =>
    compactPrint(dialect.lists.withRows(parseObject(text), rows(...list)))
  t.equal(
    write('{"a":1,"listCalculations":"1,2"}', '2', '9007199254740993'),
    '{"a":1,"listCalculations":"2,9007199254740993"}',
  )
  t.equal(write('{"calculations":["1"]}', '2'), '{"calculations":["2"]}')
  t.equal(write('{"calculations":[1]}', '2'), '{"calculations":[2]}')
  t.equal(write('{"calculations":[]}', '2'), '{"calculations":[2]}')
  const given = rows('2').map(row => ({ ...row, title: 'T' }))
  for (const list of ['[2]', '"2"']) {
    const titled = dialect.lists.withRows(parseObject(`{"calculations":${list}}`), given)
    t.equal(compactPrint(titled), '{"calculations":[{"calcId":2,"title":"T"}]}', 'a title is not lost')
  }
  t.equal(
    write(
      '{"calculations":[{"calcId":1,"calcOrder":1,"title":"a","x":0.10},{"calcId":2,"calcOrder":2,"title":"b"}]}',
      '3',
      '2',
      '1',
    ),
    '{"calculations":[{"calcId":3,"calcOrder":1},{"calcId":2,"calcOrder":2,"title":"b"},{"calcId":1,"calcOrder":3,"title":"a","x":0.10}]}',
  )
  t.throws(() => write('{"title":"x"}', '1'), { message: /no list/ })
  fc.assert(
    fc.property(
      fc.uniqueArray(id),
      fc.constantFrom('"1"', '[1]', '["1"]', '[{"calcId":1,"calcOrder":1}]'),
      (list, form) => {
        const written = dialect.lists.withRows(parseObject(`{"calculations":${form}}`), rows(...list))
        return JSON.stringify(ids(dialect.lists.rows(written))) === JSON.stringify(list)
      },
    ),
  )
})

t.test('a calculation that stands twice keeps each of its rows', async t => {
  const text = '{"calculations":[{"calcId":7,"title":"one","x":1},{"calcId":7,"title":null,"x":2}]}'
  const [first, second] = rows('7', '7')
  const same = dialect.lists.withRows(parseObject(text), [{ ...first, title: 'one' }, second] as ReportRow[])
  t.equal(compactPrint(same), text)
})

t.test('an empty place stays empty until the order changes', async t => {
  const listed = (...places: readonly (readonly [number, number])[]) => {
    const calculations = places.map(([calcId, calcOrder]) => ({ calcId, calcOrder }))
    return parseObject(JSON.stringify({ calculations }))
  }
  const report = listed([7, 2], [8, 3])
  const [seven, eight] = rows('7', '8')
  const retitled = dialect.lists.withRows(report, [{ ...seven, title: 'T' }, eight] as ReportRow[])
  t.match(compactPrint(retitled), '{"calcId":7,"calcOrder":2,"title":"T"},{"calcId":8,"calcOrder":3}')
  t.same(dialect.lists.withRows(report, rows('8', '7')), listed([8, 1], [7, 2]))
  t.same(dialect.lists.withRows(listed([7, 2], [8, 1]), rows('7', '8')), listed([7, 1], [8, 2]))
  t.same(dialect.lists.withRows(listed([8, 3]), rows('8'), report), listed([8, 1]), 'one went')
  const moved = dialect.lists.withRows(listed([7, 5], [8, 1]), rows('7', '8'), report)
  t.same(moved, listed([7, 2], [8, 3]), 'the places are those of the base')
})
