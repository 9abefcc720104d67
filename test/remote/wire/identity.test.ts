// The subject of a record, row, share or file, in every form an id is written in.
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import type { CalculationId, ProjectId } from '../../../src/remote/remote.js'
import { openWire } from '../../../src/remote/wire/wire.js'

const kindOf = (read: () => unknown): string => {
  try {
    return `read ${JSON.stringify(read())}`
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.kind : `threw ${thrown}`
  }
}

t.test('a record with another id than the asked one is none, however the id is written', async t => {
  const asked = (id: string) => (text: string) => openWire({}, () => {}).record(text, { kind: 'project', id })
  const long = '9007199254740993'
  for (const text of [
    `{"id":${long}}`,
    `{"id":"${long}"}`,
    '{"name":"a"}',
    '{"id":null}',
    '{"id":"x"}',
    '{"id":{}}',
  ])
    t.match(
      kindOf(() => asked(long)(text)),
      /^read/,
      text,
    )
  const others = [
    '{"id":9007199254740992}',
    '{"id":"3"}',
    '{"id":-2}',
    '{"id":"02"}',
    '{"id":2.5}',
    '{"id":true}',
    '{"id":[2]}',
  ]
  for (const text of [...others, '{"id":3,"id":2}', '{"id":2,"id":3}', '{"id":{"id":3}}'])
    t.equal(
      kindOf(() => asked('2')(text)),
      'broken',
      text,
    )
  t.throws(() => asked('2')('{"id":3}'), /project 2 .*project 3/, 'both ids are named')
})

t.test('rows, shares and files that name another owner are none', async t => {
  const speech = openWire({}, () => {})
  const report = (row: string) =>
    speech.record(`{"id":4,"calculations":[${row}]}`, { kind: 'report', id: '4' })
  t.match(
    kindOf(() => report('{"calcId":9,"reportId":"4"}')),
    /^read/,
  )
  t.equal(
    kindOf(() => report('{"calcId":9,"reportId":5}')),
    'broken',
  )
  const shares = (project: string) => () =>
    speech.shares(`[{"shareId":1,"project":${project}}]`, '7' as ProjectId)
  for (const own of ['7', '"7"', '{"id":7}', '"a name"', 'null']) t.match(kindOf(shares(own)), /^read/, own)
  for (const other of ['8', '{"id":"8"}']) t.equal(kindOf(shares(other)), 'broken', other)
  const files = (text: string) => () => speech.fileTitles(text, '1' as CalculationId)
  t.match(kindOf(files('[{"name":"a","id":7,"calculationId":1},"b",3]')), /^read/)
  t.equal(kindOf(files('[{"name":"a","calculationId":2}]')), 'broken')
})
