// Dolphin on projects drawn at random: search, sort, properties; `node bin/setup.mjs --for desktops` brings it, CALCFS_TEST_FULL runs it.
import t from 'tap'
import { asksWithin, contentsOf, type DrawnStage, drawnStage } from './drawn-project.js'
import { drawsOut, searches, sorts } from './finding.js'

t.setTimeout(600_000)
const isFull = process.env['CALCFS_TEST_FULL'] !== undefined

const open =
  ({ screen }: DrawnStage) =>
  async (directory: string): Promise<void> => {
    await screen.start(
      'dolphin',
      ['--new-window', directory],
      new RegExp(directory.slice(directory.lastIndexOf('/') + 1)),
    )
    await screen.untilWords(/GiB free$|MiB free$/)
    // A list with columns.
    await screen.keys('ctrl+3')
  }

if (isFull) {
  t.test('DESK-10 a search in Dolphin finds each name below the folder, and reads no file', async t => {
    const stage = await drawnStage(t)
    const search = async (word: string): Promise<void> => {
      await stage.screen.keys('ctrl+f')
      await stage.screen.untilWords(/^From Here/)
      await stage.screen.type(word)
      await stage.screen.keys('Return')
    }
    await searches(t, stage, { open: open(stage), search })
  })

  for (const [column, item] of [
    ['size', 'Size'],
    ['date', 'Modified'],
  ] as const)
    t.test(`DESK-10 sorted by ${column} in Dolphin, both ways, without a content`, async t => {
      const stage = await drawnStage(t)
      const { screen } = stage
      const pick = async (entry: string): Promise<void> => {
        await screen.keys('alt+v', 's')
        await screen.click(entry)
      }
      // Its columns are no words: the menu sorts. What it calls the two ways depends on what is sorted by.
      const ways = column === 'size' ? ['Largest First', 'Smallest First'] : ['Newest First', 'Oldest First']
      let sorted = 0
      const by = async (): Promise<void> => {
        if (sorted === 0) await pick(item)
        await pick(String(ways[sorted % 2]))
        sorted += 1
      }
      const openWithMenu = async (directory: string): Promise<void> => {
        await open(stage)(directory)
        await screen.keys('ctrl+m')
        await screen.untilWords(/^View$/)
      }
      await sorts(t, stage, { open: openWithMenu, by }, column)
    })

  t.test('DESK-7 a folder that is drawn out of Dolphin with the mouse is copied, and stays', async t => {
    const stage = await drawnStage(t)
    const openIcons = async (directory: string): Promise<void> => {
      await open(stage)(directory)
      await stage.screen.keys('ctrl+1')
    }
    // The name below the icon; a place is shown lower than it is told to others. It asks: Move, Copy, or Link Here.
    const below = { from: 33, to: 10 }
    await drawsOut(t, stage, { open: openIcons, home: 'Home', below, answer: 'c' })
  })

  t.test('DESK-10 the properties of a calculation in Dolphin cost no content of it', async t => {
    const stage = await drawnStage(t)
    const { screen, drawn, folder, testbed } = stage
    const asked = await asksWithin(t, testbed.service, async () => {
      // A click would open it.
      const selected = folder(drawn.sorted, drawn.measured)
      await screen.start('dolphin', ['--new-window', '--select', selected], new RegExp(drawn.sorted))
      await screen.untilWords(new RegExp(`^${drawn.measured.slice(0, 3)}.*er\\)$`))
      await screen.keys('alt+Return')
      await screen.untilOneOf(new RegExp(`^Properties for ${drawn.measured}`))
    })
    t.same(contentsOf(asked), [], 'no content')
    for (const name of drawn.bySize)
      t.ok(
        asked.some(line => line.startsWith('HEAD') && line.endsWith(`fileId=${name}`)),
        `the size of ${name} is part of the sum`,
      )
  })
} else t.pass('without CALCFS_TEST_FULL Dolphin is not run')
