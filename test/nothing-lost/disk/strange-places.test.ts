// Pipes, links and devices in the places of our own files at the start: the mount comes up, reads are right, and texts that were not saved are there.
import { once } from 'node:events'
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { rename, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { ids, log } from '../../testbed/sample-data.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { isDrawn } from '../../testbed/variants.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(480_000)

const file = 'projects/Water splitting/TS1_opt/run.log'
const broken = '{"title": "not JSON'

const pipe = (path: string): Promise<unknown> => printed('mkfifo', [path])
const circle = (path: string): Promise<unknown> => symlink(path, path)

/** What stands in a place afterwards. */
const strangers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'a pipe': pipe,
  'a link to nothing': path => symlink('/nonexistent/place', path),
  'a link in a circle': circle,
  'a link to a device': path => symlink('/dev/zero', path),
}

/** Each second of them, drawn; all, where `CALCFS_TEST_FULL` is set. */
const drawnOf = (all: typeof strangers) => Object.entries(all).filter((_, at) => isDrawn(at, 2))

/** Everything below these directories whose path has this form. */
function placesOf(testbed: KernelTestbed, form: RegExp): string[] {
  return ['cache', 'state'].flatMap(room => {
    const found = readdirSync(join(testbed.home, room), { recursive: true, withFileTypes: true })
    return found.map(entry => join(entry.parentPath, entry.name)).filter(path => form.test(path))
  })
}

const places: Readonly<Record<string, RegExp>> = {
  'kept contents': /\/content\/kept\/[^/]+$/,
  'the directory of contents': /\/content\/kept$/,
  ledgers: /\/ledger\.db[^/]*$/,
  'the history': /\/texts\/[^/]+\/[^/]+$/,
}

/** Contents that are kept, a history, and a draft that no save can end. */
async function used<Ground extends KernelTestbed>(t: Test, testbed: Ground): Promise<Ground> {
  t.equal(await textOf(testbed, file), log)
  t.equal(await outcome(overwrite(testbed, `reports/${ids.report}.json`, broken)), 'EINVAL')
  return testbed
}

/** Puts it where the form says; answers how many such places there are. */
async function putWhere(
  testbed: KernelTestbed,
  form: RegExp,
  make: (path: string) => Promise<unknown>,
): Promise<number> {
  const found = placesOf(testbed, form).filter(path => !/aside-\d+/.test(path))
  for (const path of found) {
    if (/kept$/.test(path)) renameSync(path, `${path}.away`)
    else rmSync(path, { recursive: true, force: true })
    await make(path)
  }
  return found.length
}

for (const [where, form] of Object.entries(places)) {
  t.test(`DISK-1 ${where}`, async t => {
    const testbed = await used(t, await warmMount(t))
    let tried = 0
    for (const [what, make] of drawnOf(strangers)) {
      await testbed.end()
      tried += await putWhere(testbed, form, make)
      await testbed.mount()
      t.equal(await textOf(testbed, file), log, `contents with ${what} in the place of ${where}`)
      t.equal(await textOf(testbed, `reports/${ids.report}.json`), broken, 'the draft is shown')
      rmSync(`${placesOf(testbed, /\/content$/)[0]}/kept.away`, { recursive: true, force: true })
    }
    t.ok(tried > 0)
    t.match(await testbed.log(), /moved aside/)
  })
}

t.test('DISK-1 a daemon of its own comes up with pipes in all of these places', async t => {
  const testbed = await used(t, await realMount(t))
  await testbed.terminate()
  for (const [where, form] of Object.entries(places)) t.ok((await putWhere(testbed, form, pipe)) > 0, where)
  await testbed.mount()
  t.equal(await textOf(testbed, file), log)
  t.equal(await textOf(testbed, `reports/${ids.report}.json`), broken, 'the draft is shown')
  t.match(await testbed.log(), /moved aside/)
})

/** The directories that hold those of all accounts are made by calcfs, too; those above are the user's. */
const parents = ['cache/calcfs', 'state/calcfs']

const strangersAbove: typeof strangers = {
  ...strangers,
  'a file': path => writeFile(path, 'x'),
  'a device': path => printed('mknod', [path, 'c', '1', '5']),
  'a socket': path => listenOnce(path),
}

/** The socket of a process that has ended. */
async function listenOnce(path: string): Promise<void> {
  const server = createServer().listen(`${path}.bound`)
  await once(server, 'listening')
  await rename(`${path}.bound`, path)
  server.close()
  await once(server, 'close')
}

/** Contents are read, and what an edit leaves is kept. */
async function worksOn(t: Test, testbed: KernelTestbed, what: string): Promise<void> {
  t.equal(await textOf(testbed, file), log, `contents with ${what} there`)
  t.equal(await outcome(overwrite(testbed, `reports/${ids.report}.json`, broken)), 'EINVAL')
  t.equal(await textOf(testbed, `reports/${ids.report}.json`), broken, 'a draft is kept')
}

for (const parent of parents) {
  t.test(`DISK-1 ${parent}, which calcfs made`, async t => {
    const testbed = await warmMount(t)
    const place = join(testbed.home, parent)
    for (const [what, make] of drawnOf(strangersAbove)) {
      await testbed.end()
      renameSync(place, `${place}.away`)
      await make(place)
      await testbed.mount()
      await worksOn(t, testbed, what)
      rmSync(`${place}.away`, { recursive: true })
    }
    t.match(await testbed.log(), /moved aside/)
  })
}

t.test(
  "DISK-1 a link to a directory of the user's own stays, and so does what is above those of calcfs",
  async t => {
    const testbed = await warmMount(t)
    await testbed.end()
    for (const parent of parents) {
      const elsewhere = join(testbed.local, parent.replace('/', '-'))
      renameSync(join(testbed.home, parent), elsewhere)
      await symlink(elsewhere, join(testbed.home, parent))
    }
    await testbed.mount()
    t.equal(await textOf(testbed, file), log)
    for (const parent of parents) t.ok(lstatSync(join(testbed.home, parent)).isSymbolicLink(), parent)
    for (const above of ['cache', 'state']) {
      await testbed.end()
      renameSync(join(testbed.home, above), join(testbed.home, `${above}.away`))
      await writeFile(join(testbed.home, above), 'of the user')
      const daemon = realMount(t, {}, testbed)
      await t.rejects(daemon, /calcfs: .*not a directory \(ENOTDIR\)/, 'it is said')
      t.equal(readFileSync(join(testbed.home, above), 'utf8'), 'of the user')
      rmSync(join(testbed.home, above))
      renameSync(join(testbed.home, `${above}.away`), join(testbed.home, above))
      await testbed.mount()
    }
  },
)
