// The mount's own directories are deleted or become read-only: reads go on, edits are saved or refused, and it is reported.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type InProcessTestbed, inProcess } from '../../testbed/in-process.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { ids, log } from '../../testbed/sample-data.js'
import { namesOf, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

const report = `reports/${ids.report}.json`
const draft = `.calcfs/drafts/${ids.report}.json`
const folder = 'projects/Water splitting/TS1_opt'
const broken = '{"title": "not JSON'

/** Below the state directory, and below that of the cache. */
const folders = {
  state: ['', 'drafts', 'locks', 'texts', 'scratch', 'known'],
  cache: ['', 'content', 'content/kept', 'content/unfinished', 'index'],
}

const cacheOf = ({ state }: InProcessTestbed): string => state.replace('/.local/state/', '/.cache/')

const edited = (text: string, word: string): string =>
  text.replace(/"title": "[^"]*",\n/, `"title": "${word}",\n`)

const storedTitle = async ({ service }: Testbed): Promise<string> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title

async function placesIn(testbed: Testbed): Promise<string> {
  // The text that was shown before is shown for the lease.
  await testbed.pass(2_100)
  return JSON.parse(await textOf(testbed, '.calcfs/status.json')).places.join('\n')
}

/** Everything that a drive does with its own directories goes on. */
async function allWorks(t: Test, testbed: InProcessTestbed, where: string): Promise<void> {
  const { files } = testbed
  t.equal(await textOf(testbed, `${folder}/input.inp`), '! B3LYP opt\n', `${where}: what was read before`)
  t.equal(await textOf(testbed, `${folder}/run.log`), log, `${where}: what is read first`)
  const word = `Without ${where}`
  await overwrite(testbed, report, edited(await textOf(testbed, report), word))
  t.equal(await storedTitle(testbed), word)
  await overwrite(testbed, `reports/.${ids.report}.json.swp`, 'a swap file')
  t.equal(await outcome(overwrite(testbed, report, broken)), 'EINVAL')
  t.match(await textOf(testbed, `${draft}.why`), /not JSON/)
  if (!/^(locks|scratch|known|index|unfinished)$|\/unfinished$/.test(where))
    t.match(await placesIn(testbed), /was deleted.*made again/, where)
  await testbed.remount()
  t.equal(await textOf(testbed, report), broken, `${where}: the draft is there after a restart`)
  t.ok((await namesOf(testbed, 'reports')).includes(`${ids.report}.json`), `${where}: reports stay known`)
  await files.unlink(draft)
}

for (const room of ['state', 'cache'] as const) {
  t.test(`STATE-4 a deleted ${room} directory, or a part of it, is made again`, async t => {
    const testbed = await inProcess(t)
    for (const name of folders[room]) {
      await testbed.remount()
      await textOf(testbed, `${folder}/input.inp`)
      await overwrite(testbed, report, edited(await textOf(testbed, report), 'before'))
      const top = room === 'state' ? testbed.state : cacheOf(testbed)
      const path = join(top, name)
      rmSync(path, { recursive: true, force: true })
      await allWorks(t, testbed, name === '' ? path.slice(path.lastIndexOf('/') + 1) : name)
      if (existsSync(path)) t.equal(statSync(path).mode & 0o777, 0o700, `${name} is private`)
      const left = readdirSync(top, { recursive: true }).filter(one => /\.tmp-|copy-/.test(String(one)))
      t.same(left, [])
    }
  })
}

t.test('STATE-4 the text of an open file outlives its directory', async t => {
  const testbed = await inProcess(t)
  const { files } = testbed
  const written = async (text: string): Promise<string> => {
    const file = await files.open(report, 'w')
    await file.write(text, 0)
    rmSync(testbed.state, { recursive: true, force: true })
    return outcome(file.close())
  }
  t.equal(await written(broken), 'EINVAL')
  await testbed.remount()
  for (const path of [report, draft]) t.equal(await textOf(testbed, path), broken, `${path} after a restart`)
  await files.unlink(draft)
  t.equal(await written(edited(await textOf(testbed, report), 'kept in memory')), 'done')
  t.equal(await storedTitle(testbed), 'kept in memory')
})

t.test('STATE-4 so does an unsaved text whose file is closed, until the mount ends in order', async t => {
  const testbed = await inProcess(t)
  t.equal(await outcome(overwrite(testbed, report, broken)), 'EINVAL')
  rmSync(join(testbed.state, 'drafts'), { recursive: true, force: true })
  t.equal(await textOf(testbed, report), broken)
  await testbed.remount()
  t.equal(await textOf(testbed, report), broken)
})

/** On a mount point within the directory itself, so that the daemon finds it read-only from one moment to the next. */
async function readOnly(t: Test, directory: string): Promise<() => Promise<void>> {
  await printed('mount', ['--bind', directory, directory])
  await printed('mount', ['-o', 'remount,bind,ro', directory])
  let isOn = true
  const end = async (): Promise<void> => {
    if (isOn) await printed('umount', ['-l', directory])
    isOn = false
  }
  t.teardown(end)
  return end
}

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('STATE-4 a directory that becomes read-only', async t => {
    const testbed = await warmMount(t)
    const { files, service } = testbed
    const before = await textOf(testbed, report)
    await textOf(testbed, `${folder}/input.inp`)

    for (const room of ['state', 'cache']) {
      await t.test(room, async t => {
        const directory = join(testbed.home, room, 'calcfs')
        const end = await readOnly(t, directory)
        t.equal(await textOf(testbed, `${folder}/input.inp`), '! B3LYP opt\n')
        t.match(await textOf(testbed, 'projects/Water splitting/H2O/.calculation.json'), /^\{/)
        const text = edited(before, `Read-only ${room}`)
        const asked = await service.during(async () => {
          const saved = await outcome(overwrite(testbed, report, text))
          t.equal(saved, room === 'state' ? 'EROFS' : 'done')
        })
        const isSent = asked.some(({ method }) => method === 'PUT')
        t.equal(isSent, room === 'cache')
        const told = new RegExp(`${directory}/\\S+ cannot be written \\(EROFS\\)`)
        await toldEverywhere(t, testbed, told)
        await end()
        t.equal(await outcome(overwrite(testbed, report, edited(before, 'Writable'))), 'done')
        const { stdout } = await testbed.calcfs('status', testbed.directory)
        t.notMatch(stdout, told)
      })
    }
    t.same(await files.readdir('.calcfs/drafts').then(found => [...found.keys()]), [])
  })

  t.test('STATE-4 is reported by every command, on a mount', async t => {
    const testbed = await realMount(t)
    await textOf(testbed, report)
    // The daemon may write there meanwhile, which `rm -r` of a user meets as well.
    rmSync(join(testbed.home, 'state', 'calcfs'), { recursive: true, force: true, maxRetries: 10 })
    await toldEverywhere(t, testbed, /was deleted while it was in use, and made again/)
  })
}

async function toldEverywhere(t: Test, testbed: KernelTestbed, told: RegExp): Promise<void> {
  const path = join(testbed.directory, folder)
  t.match((await testbed.calcfs('why', path)).stdout, told, 'why')
  t.match((await testbed.calcfs('status', testbed.directory)).stdout, told, 'status')
  t.match((await testbed.here('drafts', 'list')).stderr, told, 'drafts list')
}
