// A write that is on its way while another program closes or moves the file: the text that is taken has it, or the next has.
import t from 'tap'
import { rootPlace } from '../../src/drive/nodes/place.js'
import { Records } from '../../src/drive/records/records.js'
import type { RecordSource } from '../../src/drive/records/source.js'
import { openDrafts } from '../../src/edit/journal/drafts.js'
import { dueIn, systemClock } from '../../src/remote/clock.js'
import { byteOffset } from '../../src/remote/remote.js'
import { scratch } from '../testbed/disk/scratch.js'

const bytes = (text: string) => Buffer.from(text)
const key = { kind: 'record', of: 'report', id: '42' } as const
const context = dueIn(60_000, systemClock)
const written = '{"title":2}'

/** Two programs have the file open; the first one's text is on the platter, so that the next write changes its note first. */
async function twoWriters(directory: string) {
  const drafts = await openDrafts(directory, systemClock.now)
  const saved: string[] = []
  const source: RecordSource = {
    key: 'report 42',
    produce: () => ({ bytes: bytes('{"title":1}'), mtime: systemClock.now() }),
    outlivesText: false,
    opened: () => {},
    refusal: () => undefined,
    begin: (_base, text) => drafts.create(key, { text }),
    noteRead: () => {},
    keep: async () => {},
    // As of a text that is unchanged.
    async save(draft) {
      saved.push(draft.text())
      return undefined
    },
  }
  const records = new Records(() => {}, systemClock, { next: systemClock.now, written: () => {} })
  const opening = { place: rootPlace, access: 'write' } as const
  const [first, second] = [
    await records.open(source, opening, context),
    await records.open(source, opening, context),
  ]
  await first.write(bytes(written), byteOffset(0))
  await first.sync()
  return { first, second, saved, source, record: records.record(source.key) }
}

t.test('SAVE-16 a write on its way while another program closes the file is saved', async t => {
  const { first, second, saved } = await twoWriters(await scratch(t))
  const writing = second.write(bytes(' \n'), byteOffset(written.length))
  await first.flush(context)
  await writing
  await second.flush(context)
  t.equal(saved.at(-1), `${written} \n`)
})

t.test('SAVE-21 a write on its way while the file is moved goes with it', async t => {
  const { second, source, record } = await twoWriters(await scratch(t))
  let moved = ''
  const writing = second.write(bytes(' \n'), byteOffset(written.length))
  await record.takeAway(source, context, 'moved', async text => {
    moved = Buffer.from(text).toString()
  })
  await writing
  t.equal(moved, `${written} \n`)
})
