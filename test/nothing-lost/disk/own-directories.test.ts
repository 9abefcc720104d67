// The mount's own directories are deleted or become read-only while it lives: reads go on, edits are saved or refused, and it is told.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type InProcessGround, inProcess } from '../../testbed/in-process.js'
import { type MountGround, realMount } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { ids, log } from '../../testbed/sample-data.js'
import { type Ground, namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'

t.setTimeout(240_000)

const report = `reports/${ids.report}.json`
const draft = `.calcfs/drafts/${ids.report}.json`
const folder = 'projects/Water splitting/TS1_opt'
const broken = '{"title": "not JSON'

/** Below the state directory, and below that of the cache. */
const folders = {
  state: ['', 'drafts', 'locks', 'texts', 'scratch', 'known'],
  cache: ['', 'content', 'content/kept', 'content/unfinished', 'index'],
}

const cacheOf = ({ state }: InProcessGround): string => state.replace('/.local/state/', '/.cache/')

const edited = (text: string, word: string): string =>
  text.replace(/"title": "[^"]*",\n/, `"title": "${word}",\n`)

const storedTitle = async ({ service }: Ground): Promise<string> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title

async function placesIn(ground: Ground): Promise<string> {
  // The text that was shown before is shown for the lease.
  await ground.pass(2_100)
  return JSON.parse(await textOf(ground, '.calcfs/status.json')).places.join('\n')
}

/** Everything that a drive does with its own directories goes on. */
async function allWorks(t: Test, ground: InProcessGround, where: string): Promise<void> {
  const { files } = ground
  t.equal(await textOf(ground, `${folder}/input.inp`), '! B3LYP opt\n', `${where}: what was read before`)
  t.equal(await textOf(ground, `${folder}/run.log`), log, `${where}: what is read first`)
  const word = `Without ${where}`
  await overwrite(ground, report, edited(await textOf(ground, report), word))
  t.equal(await storedTitle(ground), word)
  await overwrite(ground, `reports/.${ids.report}.json.swp`, 'a swap file')
  t.equal(await outcome(overwrite(ground, report, broken)), 'EINVAL')
  t.match(await textOf(ground, `${draft}.why`), /not JSON/)
  t.match(await placesIn(ground), where === '' ? /deleted/ : new RegExp(`${where} was deleted.*made again`))
  await ground.remount()
  t.equal(await textOf(ground, report), broken, `${where}: the draft is there after a restart`)
  t.ok((await namesOf(ground, 'reports')).includes(`${ids.report}.json`), `${where}: reports stay known`)
  await files.unlink(draft)
}

for (const room of ['state', 'cache'] as const) {
  t.test(`STATE-3 a deleted ${room} directory, or a part of it, is made again`, async t => {
    const ground = await inProcess(t)
    for (const name of folders[room]) {
      await ground.remount()
      await textOf(ground, `${folder}/input.inp`)
      await overwrite(ground, report, edited(await textOf(ground, report), 'before'))
      const top = room === 'state' ? ground.state : cacheOf(ground)
      const path = join(top, name)
      rmSync(path, { recursive: true, force: true })
      await allWorks(t, ground, name === '' ? path.slice(path.lastIndexOf('/') + 1) : name)
      if (existsSync(path)) t.equal(statSync(path).mode & 0o777, 0o700, `${name} is private`)
      t.same(
        readdirSync(top, { recursive: true }).filter(one => /\.tmp-|copy-/.test(String(one))),
        [],
      )
    }
  })
}

t.test('STATE-3 the text of an open file outlives its directory', async t => {
  const ground = await inProcess(t)
  const { files } = ground
  for (const text of [broken, edited(await textOf(ground, report), 'kept in memory')]) {
    const file = await files.open(report, 'w')
    await file.write(text, 0)
    rmSync(ground.state, { recursive: true, force: true })
    const end = await outcome(file.close())
    if (text !== broken) {
      t.equal(end, 'done')
      t.equal(await storedTitle(ground), 'kept in memory')
      continue
    }
    t.equal(end, 'EINVAL')
    await ground.remount()
    t.equal(await textOf(ground, report), broken, 'after a restart')
    t.equal(await textOf(ground, draft), broken)
    await files.unlink(draft)
  }
})

t.test('STATE-3 so does an unsaved text whose file is closed, until the mount ends in order', async t => {
  const ground = await inProcess(t)
  t.equal(await outcome(overwrite(ground, report, broken)), 'EINVAL')
  rmSync(join(ground.state, 'drafts'), { recursive: true, force: true })
  t.equal(await textOf(ground, report), broken)
  await ground.remount()
  t.equal(await textOf(ground, report), broken)
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
    const ground = await realMount(t)
    const { files, service } = ground
    const before = await textOf(ground, report)
    await textOf(ground, `${folder}/input.inp`)

    for (const room of ['state', 'cache']) {
      await t.test(room, async t => {
        const directory = join(ground.home, room, 'calcfs')
        const end = await readOnly(t, directory)
        t.equal(await textOf(ground, `${folder}/input.inp`), '! B3LYP opt\n')
        t.equal(
          await textOf(ground, 'projects/Water splitting/H2O/.calculation.json').then(text => text[0]),
          '{',
        )
        const text = edited(before, `Read-only ${room}`)
        const asked = await service.during(async () => {
          const saved = await outcome(overwrite(ground, report, text))
          t.equal(saved, room === 'state' ? 'EROFS' : 'done')
        })
        t.equal(
          asked.some(({ method }) => method === 'PUT'),
          room === 'cache',
        )
        const told = new RegExp(`${directory}/\\S+ cannot be written \\(EROFS\\)`)
        await toldEverywhere(t, ground, told)
        await end()
        t.equal(await outcome(overwrite(ground, report, edited(before, 'Writable'))), 'done')
        const { stdout } = await ground.calcfs('status', ground.directory)
        t.notMatch(stdout, told)
      })
    }
    t.same(await files.readdir('.calcfs/drafts').then(found => [...found.keys()]), [])
  })

  t.test('STATE-3 is told by every command, on a mount', async t => {
    const ground = await realMount(t)
    await textOf(ground, report)
    rmSync(join(ground.home, 'state', 'calcfs'), { recursive: true, force: true })
    await toldEverywhere(t, ground, /was deleted while it was in use, and made again/)
  })
}

async function toldEverywhere(t: Test, ground: MountGround, told: RegExp): Promise<void> {
  const path = join(ground.directory, folder)
  t.match((await ground.calcfs('why', path)).stdout, told, 'why')
  t.match((await ground.calcfs('status', ground.directory)).stdout, told, 'status')
  t.match((await ground.calcfs('drafts', 'list', '--mount', ground.directory)).stderr, told, 'drafts list')
}
