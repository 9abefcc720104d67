// A save does what the program meant: the fewest requests, no other client's edit undone, and no text lost.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openDraft } from '../../../src/edit/journal/draft.js'
import { explain } from '../../../src/edit/journal/explain.js'
import { textHash } from '../../../src/edit/journal/text-history.js'
import { editableReport } from '../../../src/edit/kinds/report.js'
import { fieldOf, withField } from '../../../src/record/json/json.js'
import { parseObject } from '../../../src/record/json/parse.js'
import { compactPrint, prettyPrint } from '../../../src/record/json/print.js'
import { instant } from '../../../src/remote/remote.js'
import { context, failureOf, openRoom, rewrite, scratch } from '../edit-testbed.js'
import { fakeService, reportId, sameRecord } from '../fake-service.js'

const report =
  '{"id":42,"title":"Water","description":"","big":9007199254740993,"ratio":0.10,"far":1e400,"__proto__":{"a":1}}'
const puts = (requests: readonly string[]) => requests.filter(request => request !== 'GET')

async function setUp(t: Parameters<typeof scratch>[0], text = report) {
  const directory = await scratch(t)
  const service = fakeService(text)
  const record = editableReport(service.ports, reportId)
  const room = await openRoom(directory)
  t.teardown(room.end)
  const shown = prettyPrint(service.record)
  await room.texts.remember(record.key, shown, 'read')
  return { directory, service, record, room, shown }
}

t.test('an edited field goes out in the whole record as just read, all else exactly as it was', async t => {
  const { service, record, room, shown } = await setUp(t)
  const saved = await room.write(record, shown.replace('"Water"', '"Ice"'))
  t.same(puts(service.requests), [`PUT ${report.replace('"Water"', '"Ice"')}`])
  t.match(saved, { outcome: 'stored', text: shown.replace('"Water"', '"Ice"'), lost: undefined })
})

t.test('MEM-1 a record of four times as many fields is saved in about four times the time', async t => {
  /** Milliseconds at best of a save of one field, and of one of all fields. */
  async function saved(count: number): Promise<{ one: number; all: number }> {
    const fields = Array.from({ length: count }, (_, at) => `"f${at}":"v${at} plain text"`)
    const { service, record, room, shown } = await setUp(t, report.replace('{', `{${fields.join(',')},`))
    service.record = parseObject(Buffer.from(shown))
    let text = shown
    async function timed(edited: string): Promise<number> {
      const began = performance.now()
      t.match(await room.write(record, edited), { outcome: 'stored' })
      const took = performance.now() - began
      t.ok(sameRecord(service, edited))
      service.record = parseObject(Buffer.from(edited))
      text = edited
      return took
    }
    const [one, all]: number[][] = [[], []]
    for (const round of [1, 2, 3]) {
      one?.push(await timed(text.replace(/"title": "[^"]*"/, `"title": "Ice ${round}"`)))
      all?.push(await timed(text.replaceAll(/plain( [0-9])? text/g, `plain ${round} text`)))
    }
    return { one: Math.min(...(one ?? [])), all: Math.min(...(all ?? [])) }
  }
  const few = await saved(4000)
  const many = await saved(16_000)
  t.comment(few, many)
  t.ok(many.one < 8 * few.one, `one field: ${few.one.toFixed(0)} and ${many.one.toFixed(0)} ms`)
  t.ok(many.all < 8 * few.all, `all fields: ${few.all.toFixed(0)} and ${many.all.toFixed(0)} ms`)
})

t.test('a text that says nothing new asks for nothing at all', async t => {
  const { service, record, room, shown } = await setUp(t)
  for (const text of [shown, compactPrint(parseObject(shown)), shown.replace('0.10', '0.1')]) {
    t.match(await room.write(record, text), { outcome: 'unchanged' })
  }
  t.same(service.requests, [])
})

t.test('a program that flushes one text many times saves it once', async t => {
  const { service, record, room, shown } = await setUp(t)
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  await Promise.all([1, 2, 3].map(() => room.save(record, draft)))
  t.equal(puts(service.requests).length, 1)
  await rewrite(draft, shown)
  await room.save(record, draft)
  t.equal(puts(service.requests).length, 2, 'and an edit taken back is sent')
  t.ok(sameRecord(service, report))
})

t.test('a program that keeps its file open saves again and again, and may undo', async t => {
  const { service, record, room, shown } = await setUp(t)
  const draft = await room.begin(record, shown, shown)
  for (const text of ['Ice', 'Snow', 'Snow', 'Water', 'Ice'].map(title => shown.replace('Water', title))) {
    await rewrite(draft, text)
    await room.save(record, draft, shown)
    await rewrite(draft, ` ${text}`)
    t.match(await room.save(record, draft, shown), { outcome: 'unchanged' })
    t.ok(sameRecord(service, text))
  }
  t.equal(puts(service.requests).length, 4)
})

t.test('after a crash the text that the program had read is still the base', async t => {
  const { directory, service, record, room, shown } = await setUp(t)
  const draft = await room.begin(record, shown.replace('Water', 'Ice'), shown)
  service.record = parseObject(report.replace('""', '"theirs"'))
  const elsewhere = await openRoom(directory, '/elsewhere')
  t.teardown(elsewhere.end)
  await elsewhere.texts.remember(record.key, prettyPrint(service.record), 'read')
  const adopted = await openDraft(draft.directory, draft.meta, () => instant(1))
  await elsewhere.save(record, adopted)
  await adopted.close()
  t.ok(sameRecord(service, report.replace('Water', 'Ice').replace('""', '"theirs"')))
})

t.test('what is not JSON is never sent, and its place is reported', async t => {
  const { service, record, room } = await setUp(t)
  const draft = await room.begin(record, '{\n  "id": 42,\n}')
  t.match(await failureOf(room.save(record, draft)), { kind: 'not-json', place: { line: 3, column: 1 } })
  t.same(service.requests, [])
  t.equal(draft.meta.state, 'refused')
  t.match(explain(draft), /line 3, column 1/)
  t.equal(await draft.text(), '{\n  "id": 42,\n}')
  const invalid = await room.begin(record, '')
  await invalid.write(Uint8Array.of(0x7b, 0xff, 0x7d), 0)
  t.match(await failureOf(room.save(record, invalid)), { kind: 'not-json' })
  await rewrite(draft, report.replace('Water', 'Ice'))
  t.match(await room.save(record, draft), { outcome: 'stored' }, 'a later flush tries again')
  t.equal(explain(draft), undefined)
})

t.test('an edit by another client in another field stays', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.record = parseObject(report.replace('"description":""', '"description":"theirs"'))
  await room.write(record, shown.replace('Water', 'Ice'))
  t.ok(
    sameRecord(service, report.replace('Water', 'Ice').replace('"description":""', '"description":"theirs"')),
  )
})

t.test('the same edit by another client agrees: nothing needs to be sent', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.record = parseObject(report.replace('Water', 'Ice'))
  t.match(await room.write(record, shown.replace('Water', 'Ice')), { outcome: 'stored' })
  t.same(puts(service.requests), [])
})

t.test('opposite edits of one field: nothing is sent, and both texts lie side by side', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.record = parseObject(report.replace('Water', 'Steam'))
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'conflict', message: /"title"/ })
  t.same(puts(service.requests), [])
  t.equal(await draft.text(), shown.replace('Water', 'Ice'))
  const theirs = await readFile(join(draft.directory, 'theirs.json'), 'utf8')
  t.equal(theirs, prettyPrint(service.record))
  await room.texts.remember(record.key, theirs, 'read')
  await draft.change({ base: textHash(theirs) })
  t.match(await room.save(record, draft), { outcome: 'stored' }, 'a save after reading their text may insist')
  t.ok(sameRecord(service, report.replace('Water', 'Ice')))
})

t.test("a second save of an editor that reads nothing between does not undo another's edit", async t => {
  const { service, record, room, shown } = await setUp(t)
  await room.write(record, shown.replace('Water', 'Ice'))
  service.record = withField(service.record, 'description', parseObject('{"by":"them"}'))
  await room.texts.remember(record.key, prettyPrint(service.record), 'shown')
  await room.write(record, shown.replace('Water', 'Steam'))
  t.ok(sameRecord(service, report.replace('Water', 'Steam').replace('""', '{"by":"them"}')))
  await room.write(record, shown)
  t.ok(sameRecord(service, report.replace('""', '{"by":"them"}')), 'also where it has undone its own edit')
})

t.test('in doubt about the base nothing is sent, and their text lies next to it', async t => {
  const { service, record, room, shown } = await setUp(t)
  await room.write(record, shown.replace('Water', 'Ice'))
  const draft = await room.begin(record, shown.replace('""', '"mine"'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'conflict' })
  t.equal(puts(service.requests).length, 1)
  t.equal(await readFile(join(draft.directory, 'theirs.json'), 'utf8'), prettyPrint(service.record))
})

t.test('two mounts on one state directory: edits of different fields are merged', async t => {
  const { directory, service, record, room, shown } = await setUp(t)
  const other = await openRoom(directory, '/other')
  t.teardown(other.end)
  await room.write(record, shown.replace('Water', 'Ice'))
  await other.write(record, shown.replace('""', '"second"'))
  t.ok(sameRecord(service, report.replace('Water', 'Ice').replace('""', '"second"')))
})

t.test('a text of which nothing was ever shown here is the whole record', async t => {
  const directory = await scratch(t)
  const service = fakeService(report)
  const record = editableReport(service.ports, reportId)
  const room = await openRoom(directory)
  t.teardown(room.end)
  await room.write(record, '{"id":42,"title":"New"}')
  t.ok(sameRecord(service, '{"id":42,"title":"New"}'))
})

t.test('a lost answer: what was stored is a success, and nothing is sent twice', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'breaks-after'
  t.match(await room.write(record, shown.replace('Water', 'Ice')), { outcome: 'stored' })
  t.equal(puts(service.requests).length, 1)
})

t.test('a lost request: what was not stored is a failure, and the text waits', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'breaks-before'
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'timeout' })
  t.equal(puts(service.requests).length, 1)
  t.equal(draft.meta.state, 'in-flight', 'a slow service may still carry it out')
  service.weather = 'fine'
  t.match(await room.save(record, draft), { outcome: 'stored' })
  t.equal(puts(service.requests).length, 2)
  t.equal(draft.meta.attempt, undefined)
})

t.test('a request carried out after its time is found, and is no conflict with itself', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'breaks-before'
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'timeout' })
  service.weather = 'fine'
  service.record = parseObject(report.replace('Water', 'Ice'))
  await rewrite(draft, shown.replace('Water', 'Snow'))
  t.match(await room.save(record, draft), { outcome: 'stored' })
  t.ok(sameRecord(service, report.replace('Water', 'Snow')))
})

t.test('where its outcome cannot be seen, it is in flight until a reading tells', async t => {
  const { service, record, room, shown } = await setUp(t)
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  service.weather = 'breaks-after'
  service.between = () => {
    service.away = true
  }
  t.match(await failureOf(room.save(record, draft)), { kind: 'unreachable' })
  t.equal(draft.meta.state, 'in-flight')
  t.match(explain(draft), /could not be seen/)
  t.match(await failureOf(room.settle({ record, draft }, context)), { kind: 'unreachable' })
  service.away = false
  t.equal(await room.settle({ record, draft }, context), 'stored')
  t.equal(puts(service.requests).length, 1)
  t.match(await room.save(record, draft), { outcome: 'unchanged' })
})

t.test('what was written after a save in flight is not taken for stored', async t => {
  const { service, record, room, shown } = await setUp(t)
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  service.weather = 'breaks-after'
  service.between = () => {
    service.away = true
  }
  t.match(await failureOf(room.save(record, draft)), { kind: 'unreachable' })
  await rewrite(draft, shown.replace('Water', 'Snow'))
  service.away = false
  t.equal(await room.settle({ record, draft }, context), 'not-stored')
  t.match(draft.meta, { state: 'refused', attempt: undefined })
  service.weather = 'fine'
  service.between = () => {}
  t.match(await room.save(record, draft), { outcome: 'stored' })
  t.ok(sameRecord(service, report.replace('Water', 'Snow')))
})

t.test('what the service refuses is reported in its own words, and waits', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'refuses'
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'forbidden', said: 'No.' })
  t.match(draft.meta, { state: 'refused', attempt: undefined })
  t.match(explain(draft), /The service said: No\./)
  t.equal(await draft.text(), shown.replace('Water', 'Ice'))
})

t.test('a 200 that was not stored is a failure', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'stores-nothing'
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'broken', message: /"title"/ })
  t.equal(draft.meta.state, 'refused')
})

t.test('where the service itself finds a conflict, its text lies next to it, too', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.weather = 'finds-it-changed'
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'conflict' })
  t.equal(await readFile(join(draft.directory, 'theirs.json'), 'utf8'), prettyPrint(service.record))
})

t.test('a service that is away fails the save before anything was sent', async t => {
  const { service, record, room, shown } = await setUp(t)
  service.away = true
  const draft = await room.begin(record, shown.replace('Water', 'Ice'))
  t.match(await failureOf(room.save(record, draft)), { kind: 'unreachable' })
  t.equal(draft.meta.state, 'refused')
  t.same(puts(service.requests), [])
})

t.test('every text sent, and every text it replaced, can be recalled', async t => {
  const { directory, service, record, room, shown } = await setUp(t)
  await room.write(record, shown.replace('Water', 'Ice'))
  const names = ['Water', 'Ice'].map(title => shown.replace('Water', title))
  const again = await openRoom(directory)
  t.teardown(again.end)
  for (const text of names) t.equal(await again.texts.recall(record.key, textHash(text)), text)
  t.ok(fieldOf(service.record, 'title'))
})
