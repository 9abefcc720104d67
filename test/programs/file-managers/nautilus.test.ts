// Nautilus on projects drawn at random: rename, delete, copy, properties, search, sort; `node bin/setup.mjs --for desktops` brings it, CALCFS_TEST_FULL runs it.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../../testbed/programs.js'
import { writes } from '../../testbed/service.js'
import { quiet } from '../../testbed/session/opened-folder.js'
import { outcome } from '../../testbed/testbed.js'
import { gate, until } from '../../testbed/within.js'
import { asksWithin, contentsOf, type DrawnStage, drawnStage, filesIn } from './drawn-project.js'
import { drawsOut, searches, sorts } from './finding.js'

t.setTimeout(900_000)
const isFull = process.env['CALCFS_TEST_FULL'] !== undefined
/** Milliseconds for what follows a key or a button. */
const patience = 60_000
/** Milliseconds without a request after which nothing more is expected. */
const quietMs = 4_000

/** Opens a window of a directory, or with a thing selected in it. */
async function open({ screen }: DrawnStage, ...args: readonly string[]): Promise<void> {
  const parts = String(args.at(-1)).split('/')
  const shown = args[0] === '--select' ? parts.at(-2) : parts.at(-1)
  await screen.start('nautilus', ['--new-window', ...args], new RegExp(`^${shown}$`))
  if (args[0] === '--select') await screen.untilWords(new RegExp(`^“${parts.at(-1)}” selected`))
}

/** What is changed at the service by this and until it is quiet again. */
async function changes(stage: DrawnStage, work: () => Promise<void>): Promise<readonly string[]> {
  const { service } = stage.testbed
  return writes(
    await service.during(async () => {
      await work()
      await quiet(service, { patience, quietMs })
    }),
  )
}

const isThere = async ({ testbed }: DrawnStage, ...names: readonly string[]): Promise<boolean> =>
  (await outcome(testbed.files.lstat(join('projects/Water splitting', ...names)))) === 'done'

const tests: Readonly<Record<string, (t: DrawnTest, stage: DrawnStage) => Promise<void>>> = {
  async 'DESK-4 a new name given in Nautilus is saved by one PUT'(t, stage) {
    const { screen, drawn, folder } = stage
    await open(stage, '--select', folder(drawn.sorted, drawn.measured))
    const renamed = `${drawn.measured} again`
    const heard = await changes(stage, async () => {
      await screen.keys('F2')
      await screen.untilWords(/^Rename Folder$/)
      await screen.keys('ctrl+a')
      await screen.type(renamed)
      await screen.keys('Return')
      await until(patience, 'the new name', () => isThere(stage, drawn.sorted, renamed))
    })
    t.same(heard, ['PUT /calculation'])
  },

  async 'DESK-4 Delete in Nautilus asks first, and is one DELETE'(t, stage) {
    const { screen, drawn, folder, testbed } = stage
    await open(stage, '--select', folder(drawn.sorted, drawn.measured))
    const heard = await changes(stage, async () => {
      const before = testbed.service.heard.length
      const sent = (): readonly string[] => writes(testbed.service.heard.slice(before))
      await screen.keys('Delete')
      // What it asks where it looks for a trash, and where it does not: below /dev.
      await screen.untilWords(
        new RegExp(
          `^“${drawn.measured}” can’t be put in the trash. Do you want to delete it immediately\\?$|^Are you sure you want to permanently delete “${drawn.measured}”\\?$`,
        ),
      )
      t.same(sent(), [], 'nothing is deleted before the answer')
      await screen.press('_Delete Delete')
      await until(patience, 'a DELETE', () => sent().length > 0)
    })
    t.match(heard, [/^DELETE \/calculation\?id=700\d$/])
    t.equal(heard.length, 1)
    t.equal(await isThere(stage, drawn.sorted, drawn.measured), false)
  },

  async 'DESK-4 Nautilus copies a calculation out and shows how far it is; each file is fetched once'(
    t,
    stage,
  ) {
    const { screen, drawn, folder, testbed } = stage
    const out = join(testbed.local, 'out')
    await mkdir(out)
    const largest = String(drawn.bySize.at(-1))
    const { open: letThrough, opened } = gate()
    testbed.service.intercept(new RegExp(`^GET .*fileId=${largest}$`), async (_, { carryOut }) => {
      await opened
      ;(await carryOut())()
    })
    const copied = async (name: string): Promise<boolean> =>
      (await readFile(join(out, drawn.measured, name), 'utf8').catch(() => undefined)) === drawn.files[name]
    const asked = await asksWithin(t, testbed.service, async () => {
      await open(stage, '--select', folder(drawn.sorted, drawn.measured))
      await screen.keys('ctrl+c')
      // The windows of one program: this one goes on in the first, as a window of its own.
      await run('nautilus', ['--new-window', out], { environment: screen.environment })
      await screen.untilOneOf(/^out$/)
      await screen.keys('ctrl+v')
      // A pie next to the path, after three seconds; what it says shows a click.
      await screen.click('GtkDrawingArea')
      await screen.untilWords(/^Copying \d+ files to “out”$/)
      letThrough()
      for (const name of drawn.bySize) await until(patience, `a copy of ${name}`, () => copied(name))
    })
    const others = (name: string): boolean => name !== largest
    // The drive may ask once more for what the service holds up.
    t.same(filesIn(asked).filter(others), drawn.bySize.filter(others).toSorted(), 'each file once')
  },

  async 'DESK-4 the properties of a calculation in Nautilus cost no content of it'(t, stage) {
    const { screen, drawn, folder, testbed } = stage
    const asked = await asksWithin(t, testbed.service, async () => {
      await open(stage, '--select', folder(drawn.sorted, drawn.measured))
      await screen.keys('alt+Return')
      await screen.untilOneOf(/^Properties$/)
      await screen.untilWords(/^4 items, (with size|totalling) \d/)
    })
    t.same(contentsOf(asked), [])
  },

  async 'DESK-7 a folder that is drawn out of Nautilus with the mouse is copied, and stays'(t, stage) {
    const openList = async (directory: string): Promise<void> => {
      await open(stage, directory)
      await stage.screen.keys('ctrl+1')
    }
    await drawsOut(t, stage, { open: openList, home: 'Home' })
  },

  async 'DESK-10 a search in Nautilus finds each name below the folder, and reads no file'(t, stage) {
    const search = async (word: string): Promise<void> => {
      await stage.screen.keys('ctrl+f')
      await stage.screen.type(word)
    }
    await searches(t, stage, { open: directory => open(stage, directory), search })
  },
}

type DrawnTest = Parameters<typeof drawnStage>[0]

if (isFull) {
  for (const [promise, work] of Object.entries(tests))
    t.test(promise, async t => work(t, await drawnStage(t)))
  for (const [column, header] of [
    ['size', 'Size'],
    ['date', 'Modified'],
  ] as const)
    t.test(`DESK-10 sorted by ${column} in Nautilus, both ways, without a content`, async t => {
      const stage = await drawnStage(t)
      const openList = async (directory: string): Promise<void> => {
        await open(stage, directory)
        // A list with columns.
        await stage.screen.keys('ctrl+1')
      }
      await sorts(t, stage, { open: openList, by: () => stage.screen.click(header) }, column)
    })
} else t.pass('without CALCFS_TEST_FULL Nautilus is not run')
