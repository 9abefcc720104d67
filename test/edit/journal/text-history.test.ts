// The memory of texts: what was met is a base for days, what was sent is history for months.
import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { TextHistory, textHash } from '../../../src/edit/journal/text-history.js'
import { handClock } from '../../testbed/clocks.js'
import { scratch } from '../../testbed/disk/scratch.js'

const key = { kind: 'record', of: 'report', id: '42' } as const
const day = 24 * 60 * 60 * 1000

async function setUp(t: Parameters<typeof scratch>[0]) {
  const stateDirectory = await scratch(t)
  const clock = handClock()
  const open = (mount: string) => new TextHistory({ stateDirectory, mount, now: clock.now })
  return { stateDirectory, clock, open, texts: open('/mnt') }
}

t.test('texts come back with how they were met, the latest first, also after a remount', async t => {
  const { texts, open } = await setUp(t)
  await texts.remember(key, 'one', 'shown')
  await texts.remember(key, 'two', 'saved')
  await texts.remember(key, 'one', 'read')
  await texts.remember(key, 'three', 'sent')
  const known = (await open('/mnt').known(key)).candidates
  t.same(
    known.map(({ text, read, saved }) => [text, read !== undefined, saved !== undefined]),
    [
      ['one', true, false],
      ['two', false, true],
    ],
  )
  t.same((await texts.known({ kind: 'record', of: 'project', id: '42' })).candidates, [])
})

t.test('what another mount met is a base only where this one met nothing', async t => {
  const { texts, open } = await setUp(t)
  await texts.remember(key, 'one', 'saved')
  const other = open('/other')
  t.match((await other.known(key)).candidates, [{ text: 'one', saved: undefined }])
  await other.remember(key, 'two', 'shown')
  t.match((await other.known(key)).candidates, [{ text: 'two' }])
  t.equal((await other.known(key)).candidates.length, 1)
})

t.test('after a week a text is no base any more, what was sent stays for months', async t => {
  const { stateDirectory, texts, clock } = await setUp(t)
  await texts.remember(key, 'shown', 'shown')
  await texts.remember(key, 'sent', 'sent')
  clock.turn(6 * day)
  await texts.remember(key, 'fresh', 'read')
  // What a power cut leaves of a trial whether this place takes files.
  const trial = join(stateDirectory, 'texts', '.tmp-1')
  await writeFile(trial, '')
  await texts.purge('at the start')
  await rm(trial)
  t.equal((await texts.known(key)).candidates.length, 2)
  clock.turn(2 * day)
  await texts.purge('later')
  t.equal((await texts.known(key)).candidates.length, 2, 'a file may be open for longer')
  await texts.purge('at the start')
  const { candidates } = await texts.known(key)
  t.match([candidates.length, candidates[0]], [1, { text: 'fresh' }])
  t.equal(texts.recall(key, textHash('sent')), 'sent')
  clock.turn(90 * day)
  await texts.purge('at the start')
  t.equal(texts.recall(key, textHash('sent')), undefined)
  t.same(await readdir(join(stateDirectory, 'texts')), [])
})

t.test('a text that is sent while old ones go stays', async t => {
  const { stateDirectory, texts, clock } = await setUp(t)
  const all = Array.from({ length: 100 }, (_, at) => `text ${at}`)
  for (const text of all) await texts.remember(key, text, 'sent')
  const [first = ''] = await readdir(join(stateDirectory, 'texts', 'report-42'))
  const text = all.find(one => first.startsWith(textHash(one))) ?? ''
  clock.turn(91 * day)
  const purged = texts.purge('at the start')
  await texts.remember(key, text, 'sent')
  await purged
  t.equal(texts.recall(key, textHash(text)), text)
})

t.test('a text that the disk has damaged is no base', async t => {
  const { stateDirectory, texts } = await setUp(t)
  await texts.remember(key, 'a text', 'read')
  await truncate(join(stateDirectory, 'texts', 'report-42', textHash('a text')), 3)
  t.same((await texts.known(key)).candidates, [])
})

t.test('no other user may read them, and an id leads nowhere else', async t => {
  const { stateDirectory, texts } = await setUp(t)
  await texts.remember({ kind: 'record', of: 'share', id: '../../x' }, 'secret', 'saved')
  const [name = ''] = await readdir(join(stateDirectory, 'texts'))
  t.equal(name, 'share-..%2F..%2Fx')
  const mode = async (path: string) => (await stat(path)).mode & 0o777
  t.equal(await mode(join(stateDirectory, 'texts', name)), 0o700)
  t.equal(await mode(join(stateDirectory, 'texts', name, textHash('secret'))), 0o600)
})
