// A draft is the only copy of the user's text: what a program or a killed daemon leaves of it is read whole, or swept.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { type DraftMeta, printMeta } from '../../../src/edit/journal/draft-meta.js'
import { openDrafts } from '../../../src/edit/journal/drafts.js'
import { handClock, scratch } from '../edit-testbed.js'

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
    await orphan(directory, {})
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
