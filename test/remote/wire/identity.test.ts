// The subject of a record, in every form an id is written in.
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import { Wire } from '../../../src/remote/wire/wire.js'

const kindOf = (read: () => unknown): string => {
  try {
    return `read ${JSON.stringify(read())}`
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.kind : `threw ${thrown}`
  }
}

t.test('a record with another id than the asked one is none, however the id is written', async t => {
  const asked = (id: string) => (text: string) => new Wire({}, () => {}).record(text, { kind: 'project', id })
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
