// A draft is the only copy of the user's text: no crash, no damage and no full disk may lose it.
import { execFile, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { type DraftMeta, printMeta, whyOf } from '../../../src/edit/journal/draft-meta.js'
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { openTextHistory } from '../../../src/edit/journal/text-history.js'
import { Failure, looksAgain } from '../../../src/failure.js'
import { failureOf, handClock, scratch } from '../edit-testbed.js'

const key = { kind: 'report', id: '42' } as const
const { now } = handClock()
const bytes = (text: string) => Buffer.from(text)
const dead = { pid: 2 ** 22 + 1, started: 'long ago' }

/** As a daemon that died leaves it. */
async function orphan(directory: string, meta: object, text = 'precious'): Promise<string> {
  const place = join(directory, 'drafts', 'orphan')
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'text'), text)
  const whole = { key, owner: dead, state: 'editing', created: 1, changed: 1, ...meta }
  await writeFile(join(place, 'meta.json'), printMeta(whole as DraftMeta))
  return place
}

// The root has a limit of its own, below that of the tests.
t.setTimeout(560_000)

t.test('what is kept of a failure promises no look of its own at the service', async t => {
  const away = new Failure('unreachable', `the service has not answered (no route)${looksAgain}`)
  t.match(away.message, /looks again/)
  t.equal(whyOf(away).sentence, 'the service has not answered (no route)')
})

t.test('zeros that a program makes first, before it writes its text, are no damage', async t => {
  const draft = await (await openDrafts(await scratch(t), now)).create(key)
  await draft.truncate(20)
  t.equal(await draft.text(), '\0'.repeat(20), 'as fallocate does, and a close by another program in between')
  t.equal(draft.damage, undefined)
  await draft.write(bytes('{"title":"whole now"}'), 0)
  t.equal(await draft.text(), '{"title":"whole now"}')
  await draft.seal()
  t.equal(await draft.text(), '{"title":"whole now"}')
  await draft.discard()
})

t.test('DRAFT-2 a text is read whole while a longer one takes its place', async t => {
  const draft = await (await openDrafts(await scratch(t), now)).create(key)
  await draft.write(bytes('{"title":1}'), 0)
  const longer = '{"title":"one that is longer"}'
  const [, read] = await Promise.all([draft.replace(bytes(longer), async () => {}), draft.whole()])
  t.equal(Buffer.from(read).toString(), longer)
  await draft.discard()
})

t.test('of two mounts that start at once exactly one adopts a draft', async t => {
  const directory = await scratch(t)
  await orphan(directory, {})
  const rooms = await Promise.all([1, 2, 3].map(() => openDrafts(directory, now)))
  const found = rooms.flatMap(room => room.found)
  t.equal(found.length, 1)
  t.equal(await found[0]?.text(), 'precious')
  await found[0]?.close()
})

/** A process that writes a draft and tells how many bytes were answered; it is killed in the middle. */
const writer = fileURLToPath(new URL('./draft-writer.js', import.meta.url))

t.test('kill -9 in the middle of writing loses no byte that was answered', { timeout: 60_000 }, async t => {
  for (const answers of [1, 2, 5, 20, 60]) {
    const directory = await scratch(t)
    const child = fork(writer, [directory], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    let answered = 0
    child.on('message', size => {
      answered = Number(size)
      if (answered >= answers * 100) child.kill('SIGKILL')
    })
    await once(child, 'exit')
    const { found } = await openDrafts(directory, now)
    t.equal(found.length, 1, 'a draft was at risk')
    const text = (await found[0]?.text()) ?? ''
    t.ok(text.length >= answered, `${answered} bytes were answered, ${text.length} are there`)
    t.equal(text, 'x'.repeat(text.length))
    await found[0]?.close()
  }
})

t.test('the draft of a process that still runs is left to it', { timeout: 30_000 }, async t => {
  const directory = await scratch(t)
  const child = fork(writer, [directory], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await once(child, 'message')
  t.same((await openDrafts(directory, now)).found, [])
  child.kill('SIGKILL')
  await once(child, 'exit')
  const { found } = await openDrafts(directory, now)
  t.equal(found.length, 1)
  await found[0]?.close()
})

const mayMount = process.platform === 'linux' && process.getuid?.() === 0
const run = promisify(execFile)

if (mayMount) {
  t.test(
    'STATE-4 a disk that takes no more names says that it is full, and nothing is left behind',
    async t => {
      const directory = await scratch(t)
      await run('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=6', 'tmpfs', directory])
      try {
        const drafts = await openDrafts(directory, now)
        for (let left = 6; left > 0; left -= 1)
          await writeFile(join(directory, `filler${left}`), '').catch(() => {})
        t.match(await failureOf(drafts.create(key)), { kind: 'no-space' })
        const texts = openTextHistory({ stateDirectory: directory, mount: 'a', now })
        t.match(await failureOf(texts.remember(key, 'text', 'sent')), { kind: 'no-space' })
        for (const room of [3, 2, 1]) {
          await rm(join(directory, `filler${6 - room + 1}`), { force: true })
          await drafts.create(key).then(
            draft => draft.discard(),
            () => {},
          )
          t.same(await readdir(join(directory, 'drafts')), [])
        }
      } finally {
        await run('umount', [directory])
      }
    },
  )
}

t.test('STATE-4 what a killed daemon had only begun to make is swept, a text never', async t => {
  const directory = await scratch(t)
  const old = `.${randomUUID()}`
  const fresh = `.${randomUUID()}`
  const written = `.${randomUUID()}`
  for (const name of [old, fresh, written]) {
    await mkdir(join(directory, 'drafts', name), { recursive: true })
    await writeFile(join(directory, 'drafts', name, 'text'), name === written ? 'precious' : '')
    const minutes = name === fresh ? 0 : 60
    const at = (now() - minutes * 60_000) / 1000
    await utimes(join(directory, 'drafts', name), at, at)
  }
  await openDrafts(directory, now)
  t.same((await readdir(join(directory, 'drafts'))).sort(), [fresh, written].sort())
})
