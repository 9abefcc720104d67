// Thunar and PCManFM on projects drawn at random: search, sort by size and date, and a folder drawn out with the mouse.
import t from 'tap'
import { until } from '../../testbed/within.js'
import { type DrawnStage, drawnStage } from './drawn-project.js'
import { drawsOut, searches, sorts } from './finding.js'

interface FileManager {
  readonly args: readonly string[]
  /** Changes to a list with columns. */
  readonly listKey: string
  readonly columns: { readonly size: string; readonly date: string }
  /** It tells the desktop's accessibility interface the first order of its rows only, until it lists them once more. */
  readonly listsAgain?: string
  /** The home directory in its list of places. */
  readonly home: string
  search(stage: DrawnStage, word: string): Promise<void>
}

const managers: Readonly<Record<string, FileManager>> = {
  thunar: {
    args: [],
    listKey: 'ctrl+2',
    columns: { size: 'Size', date: 'Date Modified' },
    listsAgain: 'ctrl+r',
    home: 'home',
    async search({ screen }, word) {
      await screen.keys('ctrl+f')
      await screen.type(word)
    },
  },
  pcmanfm: {
    args: ['--no-desktop'],
    listKey: 'ctrl+4',
    columns: { size: 'Size', date: 'Modified' },
    home: 'Home Folder',
    async search({ screen }, word) {
      await screen.keys('ctrl+shift+f')
      await screen.untilOneOf(/^Search Files$/)
      await screen.keys('ctrl+a')
      await screen.type(`*${word}*`)
      await screen.press('Find')
    },
  },
}

const patience = 60_000

t.setTimeout(580_000)
// Each has a screen, a drive and a service of its own, and waits most of its time.
t.jobs = 2

for (const [program, manager] of Object.entries(managers)) {
  t.test(program, { buffered: true }, async t => {
    const open = (stage: DrawnStage) => async (directory: string) => {
      const name = directory.slice(directory.lastIndexOf('/') + 1)
      await stage.screen.start(program, [...manager.args, directory], new RegExp(`^${name}`))
      // A key that comes before the window is ready does nothing.
      const isList = async (): Promise<boolean> => {
        await stage.screen.keys(manager.listKey)
        return (await stage.screen.words()).includes(manager.columns.date)
      }
      await until(patience, 'a list with columns', isList, 300)
    }

    t.test('DESK-1 a search finds each name below the folder, and reads no file', async t => {
      const stage = await drawnStage(t)
      await searches(t, stage, { open: open(stage), search: word => manager.search(stage, word) })
    })

    for (const column of ['size', 'date'] as const)
      t.test(`DESK-1 sorted by ${column}, both ways, without a content`, async t => {
        const stage = await drawnStage(t)
        const by = async (): Promise<void> => {
          await stage.screen.click(manager.columns[column])
          if (manager.listsAgain !== undefined) await stage.screen.keys(manager.listsAgain)
        }
        await sorts(t, stage, { open: open(stage), by }, column)
      })

    t.test('DESK-1 a folder that is drawn out with the mouse is copied, and stays', async t => {
      const stage = await drawnStage(t)
      await drawsOut(t, stage, { open: open(stage), home: manager.home })
    })
  })
}
