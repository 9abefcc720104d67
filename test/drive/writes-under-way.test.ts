// A write that is on its way while another program closes or moves the file: the text that is taken has it, or the next has.
import t from 'tap'
import { rootPlace } from '../../src/drive/nodes/place.js'
import { Records } from '../../src/drive/records/records.js'
import { ScratchFiles } from '../../src/drive/records/scratch-files.js'
import type { RecordSource } from '../../src/drive/records/source.js'
import { openDrafts } from '../../src/edit/journal/drafts.js'
import { asFailure, Failure } from '../../src/failure.js'
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

t.test(
  'SAVE-21 a change of a local file waits while that is moved over a record, and tells its end',
  async t => {
    const files = new ScratchFiles(await scratch(t))
    const place = { directory: 'reports', name: 'a.tmp' }
    const end = (change: Promise<unknown>) => change.then(() => 'done', asFailure)
    const make = async () => (await files.create(place)).write(bytes('new'), byteOffset(0))
    for (const isTaken of [false, true]) {
      const file = await files.create(place)
      const writing = file.write(bytes(written), byteOffset(0))
      const later: Promise<unknown>[] = []
      const put = async (text: Uint8Array) => {
        t.equal(`${Buffer.from(text)}`, written, 'with the write on its way')
        later.push(
          ...[file.write(bytes('late'), byteOffset(0)), files.truncate(place, byteOffset(3)), make()].map(
            end,
          ),
        )
        for (let looks = 0; looks < 9; looks += 1) await files.stat(place)
        if (!isTaken) throw new Failure('refused', 'no JSON')
      }
      t.match(await end(files.moveOver(place, put)), isTaken ? 'done' : { kind: 'refused' })
      await writing
      const refused = isTaken ? { kind: /conflict|absent/ } : 'done'
      t.match(await Promise.all(later), [refused, refused, 'done'])
      t.equal((await files.stat(place)).size, 3, 'what is made meanwhile is another file')
    }
  },
)
