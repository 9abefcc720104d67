// The journal letter by letter: what a note says, what an adopted draft says of itself, and what each failure tells its user to do.
import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { type DraftMeta, newMeta, printMeta, readMeta, whyOf } from '../../../src/edit/journal/draft-meta.js'
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { thisProcess } from '../../../src/edit/journal/lock.js'
import { textHash } from '../../../src/edit/journal/text-history.js'
import { Failure } from '../../../src/failure.js'
import { handClock } from '../../testbed/clocks.js'
import { scratch } from '../../testbed/disk/scratch.js'

const key = { kind: 'record', of: 'report', id: '42' } as const
const dead = { pid: 2 ** 22 + 1, started: 'long ago' }
const bytes = (text: string) => Buffer.from(text)
const hash = textHash('x')

/** As a daemon that died leaves it. */
async function orphan(
  directory: string,
  name: string,
  meta: object | string,
  text = 'precious',
): Promise<string> {
  const place = join(directory, 'drafts', name)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'text'), text)
  const whole = { key, owner: dead, state: 'editing', created: 1, changed: 2 }
  const note = typeof meta === 'string' ? meta : printMeta({ ...whole, ...meta } as DraftMeta)
  await writeFile(join(place, 'meta.json'), note)
  return place
}

t.test('a new draft is whole on disk before it can be seen', async t => {
  const directory = await scratch(t)
  const { now, turn } = handClock(1_000)
  const drafts = await openDrafts(directory, now)
  const [plain, based] = [
    await drafts.create(key),
    await drafts.create({ ...key, kind: 'order' }, { base: 'the base' }),
  ]
  const owner = await thisProcess()
  t.same((await readdir(join(directory, 'drafts'))).sort(), [plain.id, based.id].sort())
  const read = readMeta(join(plain.directory, 'meta.json'))
  t.strictSame(read, { key, owner, state: 'editing', created: 1_000, changed: 1_000 })
  t.strictSame(plain.meta, { ...read })
  t.strictSame(readMeta(join(based.directory, 'meta.json'))?.base, textHash('the base'))
  t.strictSame(based.key, { ...key, kind: 'order' })
  t.equal(plain.directory, join(directory, 'drafts', plain.id))
  for (const [path, mode] of [
    [plain.directory, 0o700],
    [join(plain.directory, 'text'), 0o600],
    [join(plain.directory, 'meta.json'), 0o600],
  ] as const)
    t.equal((await stat(path)).mode & 0o777, mode, `${path} is private`)
  turn(5)
  await plain.change({ state: 'refused', why: whyOf(new Failure('refused', 'no')) })
  t.match(plain.meta, { created: 1_000, changed: 1_005, state: 'refused', why: { sentence: 'no' } })
  await plain.change({ why: undefined, saved: hash })
  t.match(plain.meta, { state: 'refused', saved: hash, why: undefined }, 'a state stays that is not changed')
  t.strictSame(readMeta(join(plain.directory, 'meta.json')), JSON.parse(JSON.stringify(plain.meta)))
  for (const draft of [plain, based]) await draft.close()
})

t.test('a draft that has ended writes into no file that has its number by now', async t => {
  const directory = await scratch(t)
  const draft = await (await openDrafts(directory, handClock().now)).create(key)
  await draft.close()
  const others = Array.from({ length: 64 }, (_, at) => openSync(join(directory, `other ${at}`), 'w+'))
  await t.rejects(async () => draft.write(bytes('x'), 0), { message: /given up/ })
  await t.rejects(async () => draft.truncate(1), { message: /given up/ })
  t.equal(others.map(one => fstatSync(one).size).join(''), '0'.repeat(others.length))
  for (const one of others) closeSync(one)
})

t.test('the largest text is kept, and no byte more', async t => {
  const draft = await (await openDrafts(await scratch(t), handClock().now)).create(key)
  const most = 64 * 1024 * 1024
  await draft.truncate(most)
  await draft.write(bytes('x'), most - 1)
  t.equal(draft.size, most)
  await t.rejects(async () => draft.truncate(most + 1), { kind: 'too-large', message: /not kept/ })
  await t.rejects(async () => draft.write(bytes('xy'), most - 1), { message: /not kept/ })
  t.equal(draft.size, most)
  await draft.discard()
})

/** What the note says at the kill, and what the next mount makes of it. */
const adopted: readonly [what: string, note: object, after: object][] = [
  ['editing', {}, { state: 'refused', why: { kind: 'internal', sentence: /ended before this was saved/ } }],
  ['refused', { state: 'refused' }, { state: 'refused', why: { sentence: /ended before/ } }],
  [
    'refused with a why',
    { state: 'refused', why: { kind: 'forbidden', sentence: 'locked' } },
    { state: 'refused', why: { kind: 'forbidden', sentence: 'locked' } },
  ],
  ['sending', { state: 'sending' }, { state: 'in-flight', why: { sentence: /while this was being sent/ } }],
  [
    'in flight',
    { state: 'in-flight' },
    { state: 'in-flight', why: { sentence: /while this was being sent/ } },
  ],
  [
    'sending a new share, which a listing tells of',
    { state: 'sending', key: { kind: 'new', of: 'share', id: 'new.json', project: '7' } },
    { state: 'in-flight' },
  ],
  [
    'sending a new report, which nothing lists',
    { state: 'sending', key: { ...key, id: 'new.json', kind: 'new' } },
    {
      state: 'outcome-unknown',
      why: { kind: 'outcome-unknown', sentence: /whether it was made is not known/ },
    },
  ],
  ['sending an order', { state: 'sending', key: { ...key, kind: 'order' } }, { state: 'in-flight' }],
  [
    'of unknown outcome',
    { state: 'outcome-unknown' },
    { state: 'outcome-unknown', why: { sentence: /while this was being sent/ } },
  ],
  [
    'of unknown outcome with a why',
    { state: 'outcome-unknown', why: { kind: 'timeout', sentence: 'silence' } },
    { state: 'outcome-unknown', why: { sentence: 'silence' } },
  ],
]

t.test('what an adopted draft says of itself', async t => {
  for (const [what, note, after] of adopted) {
    const directory = await scratch(t)
    await orphan(directory, 'orphan', note)
    const { found } = await openDrafts(directory, handClock().now)
    t.match(found[0]?.meta, after, what)
    t.match(readMeta(join(found[0]?.directory ?? '', 'meta.json')), after, `${what}, on disk`)
    t.equal(found[0]?.meta.created, 1)
    await found[0]?.close()
  }
})

t.test('which drafts are dropped because nothing is lost with them', async t => {
  const cases: readonly [kept: boolean, note: object, text: string][] = [
    [false, {}, ''],
    [false, { state: 'refused' }, ''],
    [true, { state: 'refused', emptied: hash }, ''],
    [true, { state: 'sending' }, ''],
    [false, { base: hash }, 'x'],
    [false, { saved: hash }, 'x'],
    [true, { base: hash, saved: hash }, 'y'],
    [true, { state: 'refused', base: hash }, 'x'],
    [true, { state: 'sending', base: hash }, 'x'],
    [true, { state: 'in-flight', saved: hash }, 'x'],
    [true, { state: 'outcome-unknown', saved: hash }, 'x'],
  ]
  for (const [isKept, note, text] of cases) {
    const directory = await scratch(t)
    await orphan(directory, 'orphan', note, text)
    const { found, damaged } = await openDrafts(directory, handClock().now)
    t.equal(found.length, Number(isKept), `${JSON.stringify(note)} with ${JSON.stringify(text)}`)
    t.same(damaged, [])
    for (const draft of found) await draft.close()
    t.equal((await readdir(join(directory, 'drafts'))).length, Number(isKept))
  }
})

t.test('damaged notes cost their note only, and what is no draft is reported and left', async t => {
  const directory = await scratch(t)
  await orphan(directory, 'no-json', '{"key":', 'one')
  await orphan(directory, 'no-owner', '{"state":"editing","created":1,"changed":1}', 'two')
  await orphan(directory, 'odd-state', { state: 'dreaming' }, 'three')
  await writeFile(join(directory, 'drafts', 'a-file'), 'x')
  await mkdir(join(directory, 'drafts', '.aside'))
  const { found, damaged } = await openDrafts(directory, handClock(77).now)
  const texts = found.map(draft => draft.text())
  t.same(texts.sort(), ['one', 'three', 'two'])
  for (const { key, meta } of found) {
    t.equal(key, undefined, 'its owner is unknown')
    t.match(meta, { state: 'refused', created: 77, why: { sentence: /note beside this text was damaged/ } })
  }
  t.match(damaged, { length: 1, 0: { directory: /a-file$/ } })
  t.ok(damaged.every(({ cause }) => cause instanceof Error))
  t.ok((await readdir(join(directory, 'drafts'))).includes('.aside'), 'another mount may be at work there')
  for (const draft of found) await draft.close()
})

t.test('a note is read as it was written, and one that is none is none', async t => {
  const directory = await scratch(t)
  const path = join(directory, 'meta.json')
  const attempt = { saved: hash, form: hash, before: hash, whole: hash, edited: ['title'] }
  const why = { kind: 'broken', sentence: 's', said: 'no' }
  const whole: DraftMeta = {
    ...newMeta(dead, 5),
    key: { kind: 'new', of: 'share', id: '1', project: '2' },
    ...{ base: hash, saved: hash, made: '9', attempt, why },
  }
  await writeFile(path, printMeta(whole))
  t.strictSame(readMeta(path), whole)
  t.ok(printMeta(whole).endsWith('\n}\n'), 'it is readable text')
  t.equal(readMeta(join(directory, 'missing')), undefined)
  for (const text of ['', 'null', '[]', '{}', JSON.stringify({ ...whole, created: 'now' })]) {
    await writeFile(path, text)
    t.equal(readMeta(path), undefined, text)
  }
  t.throws(() => readMeta(directory), { code: 'EISDIR' }, 'what is no note at all is an accident')
})

const { now } = handClock()

t.test('zeros that a program makes first, before it writes its text, are no damage', async t => {
  const draft = await (await openDrafts(await scratch(t), now)).create(key)
  await draft.truncate(20)
  t.equal(draft.text(), '\0'.repeat(20), 'as fallocate does, and a close by another program in between')
  t.equal(draft.damage, undefined)
  await draft.write(bytes('{"title":"whole now"}'), 0)
  t.equal(draft.text(), '{"title":"whole now"}')
  await draft.seal()
  t.equal(draft.text(), '{"title":"whole now"}')
  await draft.discard()
})

t.test('DRAFT-2 a text is read whole while a longer one takes its place', async t => {
  const draft = await (await openDrafts(await scratch(t), now)).create(key)
  await draft.write(bytes('{"title":1}'), 0)
  const longer = '{"title":"one that is longer"}'
  const placed = draft.replace(bytes(longer), () => {})
  t.equal(draft.text(), '{"title":1}')
  await placed
  t.equal(draft.text(), longer)
  await draft.discard()
})

t.test('of two mounts that start at once exactly one adopts a draft', async t => {
  for (let turn = 0; turn < 20; turn += 1) {
    const directory = await scratch(t)
    await orphan(directory, 'orphan', {})
    // Each a little later than the one before: the second comes between any two steps of the first.
    const rooms = await Promise.all(
      [0, turn, turn * 2].map(async steps => {
        for (let step = 0; step < steps; step += 1) await setImmediate()
        return openDrafts(directory, now)
      }),
    )
    const found = rooms.flatMap(room => room.found)
    t.equal(found.length, 1)
    t.equal(found[0]?.text(), 'precious')
    await found[0]?.close()
  }
})

t.test('STATE-4 what a killed daemon had only begun to make is swept, a text never', async t => {
  const directory = await scratch(t)
  const old = `.${randomUUID()}`
  const fresh = `.${randomUUID()}`
  const written = `.${randomUUID()}`
  const gone = `.gone-${randomUUID()}`
  for (const name of [old, fresh, written, gone]) {
    await mkdir(join(directory, 'drafts', name), { recursive: true })
    await writeFile(join(directory, 'drafts', name, 'text'), [written, gone].includes(name) ? 'precious' : '')
    const at = (now() - (name === fresh ? 0 : 3_600_000)) / 1000
    await utimes(join(directory, 'drafts', name), at, at)
  }
  await openDrafts(directory, now)
  t.same((await readdir(join(directory, 'drafts'))).sort(), [fresh, written].sort())
})
