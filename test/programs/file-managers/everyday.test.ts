// File managers on a screen: what an opened folder costs, what they say where there is no trash, and that rename, new folder and copy do what they say.
import { createHash } from 'node:crypto'
import { access, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { run } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import { lines, writes } from '../../testbed/service.js'
import { pictureFolder, quiet, writeSettings } from '../../testbed/session/opened-folder.js'
import { countSent, headBytes, headersBytes } from '../../testbed/session/sent-contents.js'
import { type Session, session } from '../../testbed/session/session.js'
import { isThere, outcome } from '../../testbed/testbed.js'
import { isDrawn } from '../../testbed/variants.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'
import { succeeds, until } from '../../testbed/within.js'

interface FileManager {
  readonly args: readonly string[]
  /** What it shows of the room of the disk. */
  readonly freeSpace: RegExp
  /** The buttons pressed after Delete, until it says what became of that; what it says then, and whether the calculation goes. */
  readonly trash: { readonly asks: readonly RegExp[]; readonly says?: RegExp; readonly deletes: boolean }
  /** The button that deletes for good. */
  readonly erase: string
  /** It has tumblerd make thumbnails, which keeps to a limit. */
  readonly tumbler: boolean
}

const managers: Readonly<Record<string, FileManager>> = {
  thunar: {
    args: [],
    freeSpace: /Free space: \d/,
    trash: {
      asks: [/^Do you want to permanently delete it\?$/],
      says: /^Directory not empty\.$/,
      deletes: false,
    },
    erase: 'Delete',
    tumbler: true,
  },
  pcmanfm: {
    args: ['--no-desktop'],
    freeSpace: /^Free space: \d/,
    trash: {
      asks: [/^Do you want to move the file .* to trash can\?$/, /Do you want to delete them instead\?$/],
      deletes: true,
    },
    erase: 'Yes',
    tumbler: false,
  },
}

/** Milliseconds for what follows a click, on a machine that does other things too. */
const patience = 60_000
/** Milliseconds without a request after which nothing more is expected of an opened folder. */
const quietMs = 2_000
const orbitals = '5000'

/** The limits of docs/desktop.md. */
const limits: Readonly<Record<string, string>> = {
  'tumbler/tumbler.rc':
    '[PixbufThumbnailer]\nMaxFileSize=1048576\n[DesktopThumbnailer]\nMaxFileSize=1048576\n',
}

const folders = ['trash', 'erase', 'rename', 'copy', 'properties']
const water = 'projects/Water splitting'

function adds(seed: Seed): void {
  seed.addProject({ name: 'making', owner: 'demo', parent: ids.water })
  for (const name of folders) {
    const project = seed.addProject({ name, owner: 'demo', parent: ids.water })
    seed.addCalculation({
      name: `C-${name}`,
      project,
      files: { 'run.log': 'x'.repeat(50_000), 'a.txt': 'text\n' },
    })
  }
  seed.addCalculation({ name: 'Other orbitals', project: ids.water, files: pictureFolder })
  seed.addCalculation({ id: orbitals, name: 'Orbitals', project: ids.water, files: pictureFolder })
}

interface Stage extends Pick<WarmTestbed, 'service' | 'files'> {
  readonly testbed: WarmTestbed
  readonly screen: Session
  readonly program: string
  readonly manager: FileManager
  /** Opens a window of a directory. */
  show(directory: string): Promise<void>
}

for (const [at, [program, manager]] of Object.entries(managers).entries()) {
  if (!isDrawn(at, 2)) continue
  t.test(program, { buffered: true }, async t => {
    const testbed = await warmMount(t, { settings: { access: 'manage' }, adds })
    const promise = (name: string, work: (t: Test, stage: Stage) => Promise<void>) =>
      t.test(name, async t => {
        const home = join(testbed.local, name.split(' ').slice(0, 1).join())
        await writeSettings(home, limits)
        const screen = await session(t, home)
        const show = (directory: string) =>
          screen.start(
            program,
            [...manager.args, directory],
            new RegExp(directory.slice(directory.lastIndexOf('/') + 1)),
          )
        const { service, files } = testbed
        await work(t, { testbed, service, files, screen, program, manager, show })
      })
    await promise(
      'DESK-1 opening a folder costs its listing, its sizes and the beginnings of its big files',
      opens,
    )
    if (manager.tumbler)
      await promise(
        'DESK-1 with a limit for pictures, only those below it are read for thumbnails',
        thumbnails,
      )
    await promise('DESK-5 the room for drafts is shown as free space, and a new folder is a project', makes)
    await promise('DESK-5 there is no trash: it asks, and says what becomes of the calculation', trashes)
    await promise('DESK-5 deleted for good, a calculation is gone by one DELETE', erases)
    await promise('DESK-5 a new name is saved', renames)
    await promise('DESK-1 a calculation is copied out as it is', copies)
    await promise('DESK-1 the properties of a calculation cost no content of it', showsProperties)
  })
}

const path = ({ testbed }: Stage, name: string): string => join(testbed.directory, water, name)

async function opens(t: Test, stage: Stage): Promise<void> {
  const { service } = stage
  const sent = countSent(service)
  const asked = lines(
    await service.during(async () => {
      await stage.show(path(stage, 'Orbitals'))
      const sized = (name: string) =>
        lines(service.heard).some(line => line.startsWith('HEAD') && line.endsWith(`fileId=${name}`))
      await until(patience, 'all sizes', () => Object.keys(pictureFolder).every(sized))
      await quiet(stage.service, { patience, quietMs })
    }),
  )
  const outside = asked.filter(
    line =>
      !line.includes(`id=${orbitals}&`) &&
      !line.endsWith(`id=${orbitals}`) &&
      !/(id=(1|100)&type=(project|calculation)&depth=1|resolve\?path=%2Fdb%2Fdemo&type=project)$/.test(line),
  )
  t.same(outside, [])
  t.equal(
    asked.filter(line => line.startsWith('HEAD')).length,
    Object.keys(pictureFolder).length + 1,
    'a HEAD for each file',
  )
  const others = asked.filter(line => line.startsWith('HEAD') || !line.includes('fileId='))
  t.equal(new Set(others).size, others.length, 'nothing twice')
  for (const [name, { length }] of Object.entries(pictureFolder)) {
    const most = name === 'wave' || name === 'unnamed' ? headBytes : length
    const { bytes, requests } = sent(name)
    t.ok(bytes <= most + requests * headersBytes, `${bytes} bytes of ${name}`)
  }
  t.same(
    asked.filter(line => !/^(GET|HEAD) /.test(line)),
    [],
    'nothing is changed',
  )
}

async function thumbnails(t: Test, stage: Stage): Promise<void> {
  await stage.show(path(stage, 'Orbitals'))
  const thumbnail = (name: string) => {
    const digest = createHash('md5')
      .update(pathToFileURL(path(stage, `Orbitals/${name}`)).href)
      .digest('hex')
    return join(String(stage.screen.environment['XDG_CACHE_HOME']), 'thumbnails/normal', `${digest}.png`)
  }
  const isThere = (name: string) => succeeds(access(thumbnail(name)))
  await until(patience, 'a thumbnail of the small picture', () => isThere('homo.png'))
  await quiet(stage.service, { patience, quietMs })
  t.notOk(await isThere('lumo.png'))
}

async function makes(t: Test, stage: Stage): Promise<void> {
  const { service, screen } = stage
  await stage.show(path(stage, 'making'))
  await screen.untilWords(stage.manager.freeSpace)
  await service.sends(t, ['POST /project'], async () => {
    await screen.keys('ctrl+shift+n')
    await screen.untilOneOf(/Creat(e|ing) New/)
    await screen.keys('ctrl+a')
    await screen.type('made')
    await screen.keys('Return')
    await until(patience, 'a new project', () => isThere(stage, `${water}/making/made`))
    await screen.until(/^making/)
  })
}

async function trashes(t: Test, stage: Stage): Promise<void> {
  const { screen, service, files } = stage
  const { trash } = stage.manager
  await select(stage, 'trash')
  const asked = await service.during(async () => {
    const before = service.heard.length
    await screen.keys('Delete')
    for (const question of trash.asks) {
      await screen.untilWords(question)
      t.same(writes(service.heard.slice(before)), [], 'nothing is deleted before the answer')
      await screen.press('Yes')
    }
    if (trash.says !== undefined) await screen.untilWords(trash.says)
    if (trash.deletes) await until(patience, 'a DELETE', () => writes(service.heard.slice(before)).length > 0)
    else await stage.testbed.pass(4_000)
  })
  t.match(writes(asked), trash.deletes ? [/^DELETE \/calculation\?id=\d+$/] : [])
  t.equal(writes(asked).length, trash.deletes ? 1 : 0)
  if (!trash.deletes) t.equal((await files.readFile(`${water}/trash/C-trash/a.txt`)).toString(), 'text\n')
}

async function erases(t: Test, stage: Stage): Promise<void> {
  const { screen, manager, service, files } = stage
  await select(stage, 'erase')
  const asked = await service.during(async () => {
    const before = service.heard.length
    await screen.keys('shift+Delete')
    await screen.press(manager.erase)
    await until(patience, 'a DELETE', () => writes(service.heard.slice(before)).length > 0)
  })
  t.match(writes(asked), [/^DELETE \/calculation\?id=\d+$/])
  t.equal(writes(asked).length, 1)
  t.equal(await outcome(files.lstat(`${water}/erase/C-erase`)), 'ENOENT')
}

async function renames(t: Test, stage: Stage): Promise<void> {
  const { screen, service } = stage
  await select(stage, 'rename')
  await service.sends(t, ['PUT /calculation'], async () => {
    await screen.keys('F2')
    await screen.untilOneOf(/Rename/)
    await screen.keys('ctrl+a')
    await screen.type('Renamed')
    await screen.keys('Return')
    await until(patience, 'the new name', () => isThere(stage, `${water}/rename/Renamed`))
  })
}

async function copies(t: Test, stage: Stage): Promise<void> {
  const { screen, program, manager, service } = stage
  const out = join(stage.testbed.local, `out-${program}`)
  await mkdir(out)
  await select(stage, 'copy')
  await screen.keys('ctrl+c')
  await service.sends(t, [], async () => {
    await run(program, [...manager.args, out], { environment: screen.environment })
    await screen.untilOneOf(/^out-/)
    await screen.keys('ctrl+v')
    for (const [name, length] of [
      ['run.log', 50_000],
      ['a.txt', 5],
    ] as const) {
      const read = () => readFile(join(out, 'C-copy', name)).catch(() => '')
      await until(patience, name, async () => (await read()).length === length)
    }
  })
}

async function showsProperties(t: Test, stage: Stage): Promise<void> {
  const { screen, service } = stage
  await select(stage, 'properties')
  const asked = lines(
    await service.during(async () => {
      await screen.keys('alt+Return')
      await screen.untilOneOf(/Properties/)
      // The sum of its files' sizes.
      await screen.untilWords(/^(49|50)[0-9.,]* ?[kK]i?B/)
    }),
  )
  t.same(
    asked.filter(line => !line.startsWith('HEAD') && line.includes('fileId=')),
    [],
    'no content',
  )
  t.same(
    asked.filter(line => !/^(GET|HEAD) /.test(line)),
    [],
    'nothing is changed',
  )
}

/** Opens a folder of one calculation, and selects that. */
async function select(stage: Stage, name: string): Promise<void> {
  await stage.show(path(stage, name))
  await stage.screen.untilWords(new RegExp(`C-${name}|1 folder|1 item`))
  await stage.screen.keys('ctrl+a')
  await stage.screen.untilWords(new RegExp(`C-${name}"`))
}
