// A disk that fills up under a mount, with any amount of room left: ENOSPC, no text lost, and the next save works.
import t, { type Test } from 'tap'
import { type Disk, smallDisk } from '../../testbed/disk/small-disk.js'
import { type KernelTestbed, type MountTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const shares = 'projects/Water splitting/.shares'

interface Kind {
  readonly what: string
  readonly post: RegExp
  path(name: string): string
  text(name: string): string
}

const kinds: readonly Kind[] = [
  {
    what: 'a report',
    post: /^POST \/report$/,
    path: name => `reports/new-${name}.json`,
    text: name => JSON.stringify({ title: `Report ${name}`, reportType: '1', calculations: [1234] }),
  },
  {
    what: 'a share',
    post: /^POST \/project\/share$/,
    path: name => `${shares}/new-${name}.json`,
    text: () => JSON.stringify({ user: 'guest', permission: 'READ' }),
  },
]

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('a disk that is full when the answer comes', async t => {
    const disk = await smallDisk(t)
    const testbed = await realMount(t, { settings: { access: 'manage', stateDir: disk.directory } })
    /** What comes after the save that failed, before the same one again. */
    const ends: Readonly<Record<string, () => unknown>> = {
      nothing: () => {},
      'an end in order': testbed.remount,
      async 'a kill'() {
        await testbed.kill9()
        await testbed.mount()
      },
    }
    for (const kind of kinds)
      for (const [end, come] of Object.entries(ends))
        for (const pages of [0, 2])
          await t.test(`NEW-10 ${kind.what} is made once, ${pages} pages left, then ${end}`, t =>
            madeOnce(t, { testbed, disk, kind, name: `${end.replaceAll(' ', '-')}-${pages}`, pages, come }),
          )
  })
}

interface Case {
  readonly testbed: KernelTestbed
  readonly disk: Disk
  readonly kind: Kind
  readonly name: string
  readonly pages: number
  readonly come: () => unknown
}

async function madeOnce(t: Test, { testbed, disk, kind, name, pages, come }: Case): Promise<void> {
  const { service } = testbed
  const [path, text] = [kind.path(name), kind.text(name)]
  if (kind.what === 'a share') await namesOf(testbed, shares)
  const mend = service.beforeAnswer(kind.post, () => disk.leave(pages))
  const asked = await service.during(async () => {
    const first = await outcome(overwrite(testbed, path, text))
    mend()
    await disk.makeRoom()
    await come()
    const again = await outcome(overwrite(testbed, path, text))
    const drafts = await namesOf(testbed, '.calcfs/drafts')
    t.comment(`${first}, then ${again}`)
    if (again === 'done') t.same(drafts, [], 'saved, and no draft is left')
    else {
      t.equal(again, 'EIO')
      t.ok(drafts.includes(`new-${name}.json.why`), 'what may have been made is a draft that says so')
      await testbed.files.unlink(`.calcfs/drafts/new-${name}.json`)
    }
  })
  t.equal(writes(asked).filter(request => request.startsWith('POST')).length, 1)
  const given: { shareId: number }[] = JSON.parse(
    await service.elsewhere('GET', `/project/share?id=${ids.water}`),
  )
  for (const { shareId } of given) await service.elsewhere('DELETE', `/project/share?shareId=${shareId}`)
}

const report = `reports/${ids.report}.json`
const draft = `.calcfs/drafts/${ids.report}.json`
/** Pages that a whole save needs at most, with its draft, its note and its history. */
const roomForAll = 12

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('a full disk', async t => {
    // The longer it takes, the more is written down beside the texts.
    const disk = await smallDisk(t, 8)
    const testbed = await realMount(t, { settings: { stateDir: disk.directory } })
    const ends: string[] = []
    for (let pages = 0; pages <= roomForAll; pages++) {
      const end = await saveWith(t, { testbed, disk }, pages)
      ends.push(end)
    }
    for (let pages = 0; pages <= 4; pages++) await movedOver(t, { testbed, disk }, pages)
    await renamedAway(t, { testbed, disk })
    await emptied(t, { testbed, disk })
    t.match(ends[0], /ENOSPC/)
    t.equal(ends.at(-1), 'close: done')
    t.comment(`room left, and how the save ended: ${ends.map((end, pages) => `${pages} ${end}`).join('; ')}`)
  })
}

/** Saves with so many pages left; answers which call ended how. */
async function saveWith(
  t: Test,
  { testbed, disk }: { testbed: MountTestbed; disk: Disk },
  pages: number,
): Promise<string> {
  const { files, service } = testbed
  const before = await textOf(testbed, report)
  const title = `Written with ${String(pages).padStart(2, '0')} pages left`
  // Longer than a page, so that a part of it may find room.
  const text = before
    .replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
    .replace(/"description": "[^"]*"/, `"description": "${'long '.repeat(1000)}"`)
  await disk.leave(pages)
  let end = ''
  const sent = await service.during(async () => {
    end = await writeWhole(testbed, text)
    const isStored = (await stored(testbed)).includes(title)
    if (end !== 'close: done') {
      t.match(end, /ENOSPC$/, `${pages} pages: ${end}`)
      const shown = await textOf(testbed, report)
      // A program whose write failed got the error; a part of its text may be in the file.
      if (end.startsWith('close')) await keptWhole(t, testbed, { text, pages })
      else t.ok(shown === before || text.startsWith(shown), `${pages} pages: nothing else is in its place`)
      t.ok(!isStored || end.startsWith('close'), 'what was not written whole is not sent')
    } else t.ok(isStored)
  })
  t.ok(writes(sent).length <= 1)
  await disk.makeRoom()
  const file = await files.open(report, 'w')
  await file.write(text, 0)
  t.equal(await outcome(file.close()), 'done', `${pages} pages: the next save works`)
  t.ok((await stored(testbed)).includes(title))
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  return end
}

/** What was shown a moment ago may have the date of before the last save. */
const undated = (text: string): string => text.replace(/"modificationDate": "[^"]*"/, '')

/** A finished text is moved over the record: where there is no room for it, the record shows the text of before, whole. */
async function movedOver(
  t: Test,
  { testbed, disk }: { testbed: MountTestbed; disk: Disk },
  pages: number,
): Promise<void> {
  const before = await textOf(testbed, report)
  const title = `Moved with ${pages} pages left`
  const text = before
    .replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
    .replace(/"description": "[^"]*"/, `"description": "${`${pages} `.repeat(4000)}"`)
  const work = `reports/${ids.report}.json.tmp`
  const file = await testbed.files.open(work, 'w')
  await file.write(text, 0)
  await file.close()
  await disk.leave(pages)
  const end = await outcome(testbed.files.rename(work, report))
  if (end !== 'done') {
    t.equal(end, 'ENOSPC', `${pages} pages`)
    const shown = await textOf(testbed, report)
    t.ok([before, text].map(undated).includes(undated(shown)), `${pages} pages: no cut text is in its place`)
  }
  await disk.makeRoom()
  if (end !== 'done') t.equal(await outcome(testbed.files.rename(work, report)), 'done', 'it goes with room')
  t.ok((await stored(testbed)).includes(title))
}

/** The text that was written whole is kept, with its why; a daemon that dies now finds it again on the full disk. */
async function keptWhole(
  t: Test,
  testbed: MountTestbed,
  { text, pages }: { text: string; pages: number },
): Promise<void> {
  for (const life of ['', ' after kill -9']) {
    if (life !== '') {
      await testbed.kill9()
      await testbed.mount()
    }
    const where = `${pages} pages${life}`
    t.equal(await textOf(testbed, report), text, `${where}: the text is in its place`)
    // The kernel's attributes of the last draft of this name count for two seconds.
    await until(4000, `${where}: and among the drafts`, async () => (await textOf(testbed, draft)) === text)
    const why = life === '' ? /the local disk is full[\s\S]*Make room/ : /was not saved/
    // The why of the save before may have been read less than a second ago.
    await until(5000, `${where}: its why`, async () => why.test(await textOf(testbed, `${draft}.why`)))
  }
}

/** An editor makes a backup of what it has not closed yet: the rename that finds no room leaves the text where it was. */
async function renamedAway(t: Test, { testbed, disk }: { testbed: MountTestbed; disk: Disk }): Promise<void> {
  const { files } = testbed
  const text = (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, '"title": "Not closed yet",\n')
  const file = await files.open(report, 'w')
  await file.write(text, 0)
  await disk.leave(0)
  t.equal(await outcome(files.rename(report, `${report}~`)), 'ENOSPC')
  t.equal(await textOf(testbed, report), text, 'a backup that finds no room costs nothing')
  await disk.makeRoom()
  t.equal(await outcome(files.rename(report, `${report}~`)), 'done')
  t.equal(await textOf(testbed, `${report}~`), text)
  await files.rename(`${report}~`, report)
  t.equal(JSON.parse(await stored(testbed)).title, 'Not closed yet')
  await file.close()
}

/** A refused text is emptied, and nothing finds room after it: it is back whole or not at all, and whole once there is room. */
async function emptied(t: Test, { testbed, disk }: { testbed: MountTestbed; disk: Disk }): Promise<void> {
  const text = `{"refused": "${'long '.repeat(4000)}"`
  t.equal(await writeWhole(testbed, text), 'close: EINVAL')
  const file = await testbed.files.open(report, 'w')
  await disk.leave(0)
  t.equal(await outcome(file.write(text, 0)), 'ENOSPC')
  await file.close()
  const shown = () => textOf(testbed, report)
  for (const end = Date.now() + 3000; Date.now() < end; await disk.leave(1))
    t.ok(['', text].includes(await shown()), 'no cut text is in its place')
  await disk.makeRoom()
  await until(4000, 'it is back', async () => (await shown()) === text)
}

/** As `cp` does it: the first call that fails ends it. */
async function writeWhole({ files }: MountTestbed, text: string): Promise<string> {
  const opening = files.open(report, 'w')
  const opened = await outcome(opening)
  if (opened !== 'done') return `open: ${opened}`
  const file = await opening
  const written = await outcome(file.write(text, 0))
  const closed = await outcome(file.close())
  return written === 'done' ? `close: ${closed}` : `write: ${written}`
}

const stored = ({ service }: MountTestbed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)
