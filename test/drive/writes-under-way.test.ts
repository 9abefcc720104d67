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
const context = dueIn(60_000, systemClock)
const written = '{"title":2}'

/** Two programs have the file open; the first one's text is on the platter, so that the next write changes its note first. */
async function twoWriters(directory: string, keep: RecordSource['keep'] = () => {}) {
  const drafts = await openDrafts(directory, systemClock.now)
  const saved: string[] = []
  const source: RecordSource = {
    key: 'report 42',
    produce: () => ({ bytes: bytes('{"title":1}'), mtime: systemClock.now() }),
    outlivesText: false,
    opened: () => {},
    refusal: () => undefined,
    begin: (_base, text) => drafts.create({ kind: 'record', of: 'report', id: '42' }, { text }),
    noteRead: () => {},
    keep,
    save: async draft => void saved.push(draft.text()),
  }
  const records = new Records(() => {}, systemClock, { next: systemClock.now, written: () => {} })
  const open = () => records.open(source, { place: rootPlace, access: 'write' }, context)
  const [first, second] = [await open(), await open()]
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

t.test('SAVE-21 a write on its way while the file is moved, or its draft given up, goes with it', async t => {
  for (const isMoved of [true, false]) {
    const writing: Promise<void>[] = []
    const write = (text: string, at: number) => writing.push(second.write(bytes(text), byteOffset(at)))
    const keep = async () => void (writing.length > 1 || write('\n', written.length + 1))
    const { second, source, record } = await twoWriters(await scratch(t), keep)
    const kept: string[] = []
    const take = async () => void kept.push(`${Buffer.from((await record.draft?.remains()) ?? [])}`)
    write(' ', written.length)
    if (isMoved) await record.takeAway(source, context, 'moved', take)
    else await record.drop(record.draft, () => take().then(keep))
    await Promise.all(writing)
    t.equal(kept.at(-1), `${written} \n`)
  }
})
