// Reading tolerantly: what an instance may write in several ways means the same, and one bad item hides no other.
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Failure } from '../../../src/failure.js'
import { parseObject } from '../../../src/record/json/parse.js'
import type { DialectSettings } from '../../../src/remote/wire/names.js'
import { Wire } from '../../../src/remote/wire/wire.js'

const speaking = (settings: DialectSettings = {}) => {
  const left: string[] = []
  const speech = new Wire(settings, item => left.push(item))
  /** As it comes over a network: in pieces that end anywhere. */
  const calculations = (text: string) => {
    const reader = speech.children('calculation')
    for (let at = 0; at < text.length; at += 7) reader.take(text.slice(at, at + 7))
    return reader.end()
  }
  return {
    calculations,
    dialect: speech.dialect,
    record: (text: string) => speech.record(text, { kind: 'calculation', id: '1' }),
    shares: (text: string) => speech.shares(text),
    fileTitles: (text: string) => speech.fileTitles(text),
    reportTypes: (text: string) => speech.reportTypes(text),
    user: (text: string) => speech.user(text),
    projectId: (text: string) => speech.resolvedId(text),
    newId: (text: string) => speech.newId(text),
    extras: (endpoint: string) => speech.extras(endpoint),
    left,
  }
}
const { dialect } = speaking()
const id = fc.bigInt({ min: 0n, max: 9223372036854775807n }).map(String)
const kindOf = (read: () => unknown): string => {
  try {
    return `read ${JSON.stringify(read())}`
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.kind : `threw ${thrown}`
  }
}
const areAll = (t: Test, kind: string, read: (text: string) => unknown, texts: readonly string[]): void => {
  for (const text of texts) t.same({ text, kind: kindOf(() => read(text)) }, { text, kind })
}

t.test('an id of 64 bits survives in every spelling', async () => {
  fc.assert(
    fc.property(id, number => {
      const { calculations, projectId, newId } = speaking()
      for (const spelling of [number, `"${number}"`]) {
        const [item] = calculations(`[{"id":${spelling},"name":"TS1"}]`)
        if (item?.id !== number) return false
        for (const answer of [spelling, `{"id":${spelling}}`, `{"id":${spelling},"name":"x"}`]) {
          if (projectId(answer) !== number || newId(answer) !== number) return false
        }
      }
      return true
    }),
  )
})

t.test('malformed items are left out and reported, the others stay', async t => {
  const item = fc.tuple(id, fc.string({ unit: 'binary' }))
  const junk = fc.constantFrom(
    '7',
    'null',
    '"x"',
    '[]',
    '{}',
    '{"id":-1,"name":"a"}',
    '{"id":1}',
    '{"id":1.5,"name":"a"}',
  )
  fc.assert(
    fc.property(
      fc.uniqueArray(item, { selector: ([number]) => number, minLength: 1 }),
      fc.array(junk),
      (good, bad) => {
        const { calculations, left } = speaking()
        const items = good.map(([number, name]) => `{"name":${JSON.stringify(name)},"id":${number}}`)
        const read = calculations(`[${[...bad, ...items].join(',')}]`)
        const same = good.every(
          ([number, name], index) => read[index]?.id === number && read[index]?.title === name,
        )
        return read.length === good.length && same && left.length === bad.length
      },
    ),
  )
  const { calculations, left } = speaking()
  t.equal(calculations('[{"id":1,"name":"a"},{"id":1,"name":"again"}]').length, 1, 'an id counts once')
  t.same(left, [])
})

t.test('nothing but a list is a list, nothing but a record is a record', async t => {
  const { calculations, record, projectId, user } = speaking()
  areAll(t, 'broken', calculations, ['', 'null', '{}', '7', '[', '[{"id":1,"name":"a"}', 'Internal error'])
  areAll(t, 'broken', record, ['[]', '7', '{"id":1', 'oops', '', ' '])
  areAll(t, 'absent', record, ['null'])
  areAll(t, 'absent', projectId, ['null', ''])
  areAll(t, 'broken', projectId, ['-1', '"x"', '01', '9223372036854775808', '[]', '{}'])
  areAll(t, 'broken', user, ['[]'])
})

t.test(
  'ID-1 a number in the place of an id that is no id is another one; a text that holds none passes',
  async t => {
    const { record } = speaking({ fields: { id: ['project'] } })
    const others = '2 -1 1.0 "01" "-7" 9223372036854775808 "9223372036854775808" {"id":8}'.split(' ')
    for (const said of others)
      areAll(t, 'broken', record, [`{"id":${said},"name":"a"}`, `{"project":${said},"name":"a"}`])
    for (const said of ['1', '"1"', '"a-1"', 'null', '{}', '{"id":"1"}'])
      t.ok(record(`{"id":${said},"name":"a"}`), said)
  },
)

t.test('no text at all makes the reader throw anything but a failure', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.json().map(json => `[${json}]`),
  )
  fc.assert(
    fc.property(text, any => {
      const { calculations, shares, reportTypes, fileTitles, record, user, newId } = speaking()
      const readers: ((text: string) => unknown)[] = [
        calculations,
        shares,
        reportTypes,
        fileTitles,
        record,
        user,
        newId,
      ]
      const outcomes = readers.map(read => kindOf(() => read(any)))
      return outcomes.every(outcome => /^(read|broken|absent)/.test(outcome))
    }),
  )
})

t.test('file names are read in every form a list is known to have', async t => {
  const { fileTitles, left } = speaking()
  const forms = [
    '["a.in","output.cml"]',
    '[a.in, output.cml]',
    "['a.in', 'output.cml']",
    '["a.in", output.cml]',
    '[{"name":"a.in"},{"fileName":"output.cml","id":7}]',
  ]
  for (const form of forms) t.same(fileTitles(form), ['a.in', 'output.cml'], form)
  t.same(fileTitles('[]'), [])
  t.same(fileTitles('[12,{"id":13}]'), ['12', '13'])
  t.same(left, [])
  t.same(fileTitles('["ok",null,{},""]'), ['ok'])
  t.equal(left.length, 3)
  areAll(t, 'broken', fileTitles, ['', 'a.in, output.cml', '{"error":"x"}', '[{"name":"a.in"}', '["a.in"'])
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, unit: 'binary' })), names => {
      return JSON.stringify(fileTitles(JSON.stringify(names))) === JSON.stringify(names)
    }),
  )
})

t.test('a date means the same in every spelling', async t => {
  const instant = Date.UTC(2024, 4, 17, 9, 8, 7)
  const spellings = [
    '"2024-05-17T09:08:07Z"',
    '"2024-05-17T09:08:07.000+0000"',
    '"2024-05-17T11:08:07+02:00"',
    '"2024-05-17 09:08:07"',
    '"2024-05-17T09:08:07"',
    `${instant}`,
    `"${instant}"`,
    `${instant / 1000}`,
  ]
  for (const date of spellings)
    t.equal(dialect.facts(parseObject(`{"creationDate":${date}}`)).created, instant, date)
  for (const date of [
    '"yesterday"',
    'null',
    '"2024-13-40"',
    '0',
    '-5',
    '1e400',
    '"0000-00-00 00:00:00"',
    '{}',
  ]) {
    t.equal(dialect.facts(parseObject(`{"modificationDate":${date}}`)).modified, undefined, date)
  }
})

t.test('a user is found under any of the usual names, the group never', async t => {
  const { user } = speaking()
  t.same(user('{"email":"anna@example.org","userName":"u17"}').candidates, [
    'u17',
    'anna@example.org',
    'anna',
  ])
  t.same(user('{"login":"anna","group":{"name":"chem"}}').candidates, ['anna'])
  t.same(user('{"user":{"username":"anna"}}').candidates, ['anna'])
  t.same(user('{"name":"a/../b"}').candidates, [])
})

t.test('an instance may have its own field names and query parameters', async t => {
  const own = speaking({
    fields: { id: ['number'], created: ['born'] },
    query: { 'project/descendant': { searchType: 'id' } },
  })
  const [item] = own.calculations('[{"number":7,"name":"a","born":"2024-01-01"}]')
  t.match(item, { id: '7', since: Date.UTC(2024, 0, 1) })
  t.same(own.extras('project/descendant'), { searchType: 'id' })
  t.same(own.extras('project'), {})
})
