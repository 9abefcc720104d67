// Pipes, links and devices in the places of our own files at the start: the mount comes up, reads are right, and texts that were not saved are there.
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { ids, log } from '../../testbed/sample-data.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(480_000)
// They wait most of the time.
t.jobs = 2

const file = 'projects/Water splitting/TS1_opt/run.log'
const broken = '{"title": "not JSON'

/** What stands in a place afterwards. */
const strangers: readonly ((path: string) => Promise<unknown>)[] = [
  path => printed('mkfifo', [path]),
  path => symlink('/nonexistent/place', path),
  path => symlink(path, path),
  path => symlink('/dev/zero', path),
]

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

/** Puts one of them, drawn, into each place of this form; answers how many places there are. */
async function putWhere(testbed: KernelTestbed, form: RegExp, draw: (below: number) => number) {
  const found = placesOf(testbed, form)
  for (const path of found) {
    if (/kept$/.test(path)) renameSync(path, `${path}.away`)
    else rmSync(path, { recursive: true, force: true })
    await strangers[draw(strangers.length)]?.(path)
  }
  return found.length
}

const { seed, draw } = drawnFrom()

t.test(`DISK-1 a daemon comes up with pipes and links in all of these places, seed ${seed}`, async t => {
  const testbed = await used(t, await realMount(t))
  await testbed.terminate()
  for (const [where, form] of Object.entries(places)) t.ok((await putWhere(testbed, form, draw)) > 0, where)
  await testbed.mount()
  t.equal(await textOf(testbed, file), log)
  t.equal(await textOf(testbed, `reports/${ids.report}.json`), broken, 'the draft is shown')
  t.match(await testbed.log(), /moved aside/)
})

/** The directories that hold those of all accounts are made by calcfs, too; those above are the user's. */
const parents = ['cache/calcfs', 'state/calcfs']

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
