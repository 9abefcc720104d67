// What each file manager is tried with on a drawn project: search by name, sort by size and by date.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { countSent, headBytes, headersBytes } from '../../testbed/session/sent-contents.js'
import { until } from '../../testbed/within.js'
import { asksWithin, contentsOf, type DrawnStage, filesIn, foldersAhead } from './drawn-project.js'

export interface Searching {
  /** Opens a window of a directory. */
  open(directory: string): Promise<void>
  /** Starts a search below that directory for names that hold the word. */
  search(word: string): Promise<void>
}

export interface DrawingOut {
  /** Opens a window of a directory, which shows a list. */
  open(directory: string): Promise<void>
  /** The home directory in its list of places. */
  readonly home: string
}

export interface Sorting {
  /** Opens a window of a directory, which shows a list with columns. */
  open(directory: string): Promise<void>
  /** Sorts by this; a second time the other way round. */
  by(column: 'size' | 'date'): Promise<void>
}

/** Milliseconds for what follows a click, on a machine that does other things too. */
const patience = 60_000
const pause = 150

/** All names are found, no other ones, without a content: of a found file whose name does not tell its kind its beginning may be looked at. */
export async function searches(t: Test, stage: DrawnStage, program: Searching): Promise<void> {
  const { screen, drawn, folder, testbed } = stage
  const [, , unkind = ''] = drawn.found
  const sent = countSent(testbed.service)
  const search = async (): Promise<void> => {
    await program.open(folder(drawn.searched))
    await program.search(drawn.needle)
    for (const name of drawn.found) await screen.untilWords(new RegExp(`^${name.replace('.', '\\.')}$`))
  }
  const asked = await asksWithin(t, testbed.service, search, foldersAhead)
  t.same(
    contentsOf(asked).filter(line => !line.endsWith(`fileId=${unkind}`)),
    [],
    'no content',
  )
  t.ok(sent(unkind).bytes <= headBytes + headersBytes, `${sent(unkind).bytes} bytes of ${unkind}`)
  t.notOk((await screen.words()).includes(drawn.outside), 'what lies outside is not found')
}

/** A folder that the mouse draws to the home directory is copied there: each file of it is fetched once, and nothing is changed. */
export async function drawsOut(t: Test, stage: DrawnStage, program: DrawingOut): Promise<void> {
  const { screen, drawn, folder, testbed } = stage
  const copied = async (name: string): Promise<boolean> =>
    (await readFile(join(testbed.local, 'home', drawn.measured, name), 'utf8').catch(() => undefined)) ===
    drawn.files[name]
  const asked = await asksWithin(t, testbed.service, async () => {
    await program.open(folder(drawn.sorted))
    await screen.drag(drawn.measured, program.home)
    for (const name of drawn.bySize) await until(patience, `a copy of ${name}`, () => copied(name), pause)
  })
  t.same(filesIn(asked), drawn.bySize.toSorted(), 'each file once')
}

/** The order of the rows is that of the sizes or of the dates, both ways, and costs no content. */
export async function sorts(
  t: Test,
  stage: DrawnStage,
  program: Sorting,
  column: 'size' | 'date',
): Promise<void> {
  const { drawn, folder, testbed } = stage
  const [names, at] =
    column === 'size' ? [drawn.bySize, [drawn.sorted, drawn.measured]] : [drawn.byDate, [drawn.sorted]]
  const asked = await asksWithin(t, testbed.service, async () => {
    await program.open(folder(...at))
    await bothWays(t, stage, names, () => program.by(column))
  })
  t.same(contentsOf(asked), [], 'no content')
}

async function bothWays(
  t: Test,
  { screen }: DrawnStage,
  names: readonly string[],
  sort: () => Promise<void>,
): Promise<void> {
  let shown: readonly string[] = []
  const ways = [names, names.toReversed()].map(way => way.join())
  const isIn = (allowed: readonly string[]) => async (): Promise<boolean> => {
    const places = await screen.places()
    const heightOf = (name: string): number => places.get(name)?.y ?? Number.POSITIVE_INFINITY
    shown = names.filter(name => places.has(name)).sort((one, other) => heightOf(one) - heightOf(other))
    return allowed.includes(shown.join())
  }
  const settle = (allowed: readonly string[]): Promise<void> =>
    until(patience, `the order ${allowed.join(' or ')}`, isIn(allowed), pause).catch(cause => {
      throw new Error(`${cause.message}: it is ${shown.join()}`, { cause })
    })
  await sort()
  await settle(ways)
  const first = shown.join()
  await sort()
  await settle(ways.filter(way => way !== first))
  t.not(shown.join(), first, 'the second sort turns the order round')
}
