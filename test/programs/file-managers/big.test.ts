// The file managers of the two big desktops, Dolphin and Nautilus: too big for each day, `node bin/setup.mjs --for desktops` brings them, CALCFS_TEST_FULL runs them.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fillSampleData, ids } from '../../testbed/sample-data.js'
import { lines, writes } from '../../testbed/service.js'
import { pictureFolder, quiet, writeSettings } from '../../testbed/session/opened-folder.js'
import { countSent, headBytes, headersBytes } from '../../testbed/session/sent-contents.js'
import { type Session, session } from '../../testbed/session/session.js'
import { outcome } from '../../testbed/testbed.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'

t.setTimeout(600_000)
const isFull = process.env['CALCFS_TEST_FULL'] !== undefined
/** Milliseconds: Nautilus shows nothing for half a minute where the rest of its desktop is missing. */
const patience = 120_000
const quietMs = 4_000
const water = 'projects/Water splitting'
/** The limits of docs/desktop.md. */
const limits: Readonly<Record<string, string>> = {
  kdeglobals: '[PreviewSettings]\nMaximumSize=1048576\n',
  dolphinrc: '[PreviewSettings]\nPlugins=imagethumbnail,jpegthumbnail\n',
  'glib-2.0/settings/keyfile': '[org/gnome/nautilus/preferences]\nthumbnail-limit=uint64 1\n',
}

interface Stage {
  readonly testbed: WarmTestbed
  readonly screen: Session
  readonly folder: (name: string) => string
}

async function stage(t: Test): Promise<Stage> {
  const testbed = await warmMount(t, {
    settings: { access: 'manage' },
    fill(seed) {
      fillSampleData(seed)
      seed.addCalculation({ id: '5000', name: 'Orbitals', project: ids.water, files: pictureFolder })
      const project = seed.addProject({ name: 'alone', owner: 'demo', parent: ids.water })
      seed.addCalculation({
        name: 'C-alone',
        project,
        files: { 'run.log': pictureFolder['run.log'], 'a.txt': 'text\n' },
      })
    },
  })
  const home = join(testbed.local, 'home')
  await writeSettings(home, limits)
  return { testbed, screen: await session(t, home), folder: name => join(testbed.directory, water, name) }
}

const dolphin = ({ screen, folder }: Stage, name: string): Promise<void> =>
  screen.start('dolphin', ['--new-window', folder(name)], new RegExp(name))

/** The settings of a session are its own, and Nautilus reads them from a file. */
const nautilus = ({ screen, folder }: Stage, name: string): Promise<void> =>
  screen.start(
    'env',
    ['GSETTINGS_BACKEND=keyfile', 'nautilus', '--new-window', folder(name)],
    new RegExp(name),
  )

const starts = { dolphin, nautilus }

for (const [program, start] of isFull ? Object.entries(starts) : []) {
  t.test(
    `DESK-1 ${program} opens a folder: its listing, its sizes, heads, and pictures below a limit`,
    async t => {
      const here = await stage(t)
      const { service } = here.testbed
      const sent = countSent(service)
      const asked = lines(
        await service.during(async () => {
          await start(here, 'Orbitals')
          await until(patience, 'the thumbnail of a small picture', () => sent('homo.png').requests > 0)
          await quiet(here.testbed.service, { patience, quietMs })
        }),
      )
      const outside = asked.filter(
        line =>
          !/[?&]id=5000(&|$)/.test(line) &&
          !/(id=(1|100)&type=(project|calculation)&depth=1|resolve\?path=%2Fdb%2Fdemo&type=project)$/.test(
            line,
          ),
      )
      t.same(outside, [])
      const ofFiles = asked.filter(line => line.includes('fileId='))
      t.equal(new Set(ofFiles).size, ofFiles.length, 'nothing of a file twice')
      t.equal(sent('lumo.png').requests, 0, 'a picture over a MiB is not read')
      for (const name of ['unnamed', 'wave'])
        t.ok(sent(name).bytes <= headBytes + headersBytes, `${sent(name).bytes} bytes of ${name}`)
    },
  )

  t.test(`DESK-1 a new folder made in ${program} is a project`, async t => {
    const here = await stage(t)
    const { screen, testbed } = here
    const asked = await testbed.service.during(async () => {
      await start(here, 'alone')
      await screen.untilWords(/^C-alone$/)
      await screen.keys(program === 'dolphin' ? 'F10' : 'ctrl+shift+n')
      await screen.untilOneOf(/New Folder/)
      await screen.keys('ctrl+a')
      await screen.type('made')
      await screen.keys('Return')
      await until(patience, 'a new project', () => isThere(here, 'alone/made'))
    })
    t.same(writes(asked), ['POST /project'])
  })
}

/** What is done with the one calculation of a folder, and what the service hears of it. */
const deeds: Readonly<Record<string, (t: Test, here: Stage) => Promise<void>>> = {
  async 'DESK-4 Dolphin moves a calculation to the trash of this machine: a whole copy, and one DELETE'(
    t,
    here,
  ) {
    const heard = await changes(here, () => here.screen.keys('Delete'))
    t.match(heard, [/^DELETE \/calculation\?id=\d+$/])
    t.equal(heard.length, 1)
    const trashed = join(String(here.screen.environment['XDG_DATA_HOME']), 'Trash/files/C-alone/run.log')
    t.equal(await readFile(trashed, 'utf8'), pictureFolder['run.log'])
    t.equal(await isThere(here, 'alone/C-alone'), false)
  },
  async 'DESK-1 Dolphin asks before it deletes for good, and that is one DELETE'(t, here) {
    const heard = await changes(here, async () => {
      await here.screen.keys('shift+Delete')
      await here.screen.untilWords(/^Do you really want to permanently delete this item\?/)
      t.notMatch(writes(here.testbed.service.heard).join(), /DELETE/, 'nothing before the answer')
      await here.screen.untilOneOf(/Delete Permanently/)
      await here.screen.keys('Return')
    })
    t.match(heard, [/^DELETE \/calculation\?id=\d+$/])
    t.equal(heard.length, 1)
  },
  async 'DESK-1 a new name given in Dolphin is saved'(t, here) {
    const heard = await changes(here, async () => {
      await here.screen.keys('F2', 'ctrl+a')
      await here.screen.type('Renamed')
      await here.screen.keys('Return')
    })
    t.same(heard, ['PUT /calculation'])
    t.ok(await isThere(here, 'alone/Renamed'))
  },
}

for (const [promise, deed] of isFull ? Object.entries(deeds) : []) {
  t.test(promise, async t => {
    const here = await stage(t)
    await dolphin(here, 'alone')
    await here.screen.untilWords(/^C-alone$/)
    await here.screen.untilWords(/GiB free$|MiB free$/)
    await here.screen.keys('ctrl+a')
    await here.screen.untilWords(/^C-alo.*er\)$/)
    await deed(t, here)
  })
}

if (isFull)
  t.test('DESK-1 Dolphin copies a calculation out as it is', async t => {
    const here = await stage(t)
    const { screen, testbed, folder } = here
    const out = join(testbed.local, 'out')
    await mkdir(out)
    const asked = await testbed.service.during(async () => {
      await screen.start('dolphin', ['--split', '--new-window', folder('alone'), out], /Dolphin/)
      await screen.untilWords(/^C-alone$/)
      await screen.keys('ctrl+a', 'shift+F5')
      const copied = async (name: string) =>
        (await readFile(join(out, 'C-alone', name)).catch(() => '')).length
      await until(patience, 'the copy', async () => (await copied('run.log')) === 50_000)
      await until(patience, 'the other file', async () => (await copied('a.txt')) === 5)
    })
    t.same(writes(asked), [])
  })

if (!isFull) t.pass('without CALCFS_TEST_FULL these programs are not run')

const isThere = async ({ testbed }: Stage, name: string): Promise<boolean> =>
  (await outcome(testbed.files.lstat(`${water}/${name}`))) === 'done'

/** What is changed at the service by this, until the first change has come and nothing follows it. */
async function changes(here: Stage, work: () => Promise<void>): Promise<readonly string[]> {
  const { service } = here.testbed
  const asked = await service.during(async () => {
    const before = service.heard.length
    await work()
    await until(patience, 'a change', () => writes(service.heard.slice(before)).length > 0)
    await quiet(here.testbed.service, { patience, quietMs })
  })
  return writes(asked)
}
