// Two projects drawn at random: calculations of different ages and files of different sizes to sort, a name to search for; and what a file manager may ask for there.
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import { chance } from '../../long/chance.js'
import { fillSampleData, ids } from '../../testbed/sample-data.js'
import { lines, type TestService } from '../../testbed/service.js'
import { quiet, writeSettings } from '../../testbed/session/opened-folder.js'
import { type Session, session } from '../../testbed/session/session.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'

export interface DrawnProject {
  /** The project with calculations of different ages. */
  readonly sorted: string
  /** Its calculations, the oldest first. */
  readonly byDate: readonly string[]
  /** One of them, with files of different sizes. */
  readonly measured: string
  /** Those files, the smallest first. */
  readonly bySize: readonly string[]
  /** Their contents. */
  readonly files: Readonly<Record<string, string>>
  /** The project that is searched. */
  readonly searched: string
  /** What is searched for. */
  readonly needle: string
  /** The names below `searched` that hold it, at any depth. */
  readonly found: readonly string[]
  /** A name that holds it, too, next to `searched`. */
  readonly outside: string
}

const seed = Number(process.env['CALCFS_TEST_SEED'] ?? randomInt(2 ** 31))
/** The ids of what is drawn; those of `outside` are other ones. */
const given = {
  sorted: '7000',
  searched: '7100',
  sub: '7101',
  high: '7102',
  deep: '7103',
  plain: '7104',
} as const
const calculationId = (at: number): string => `${7001 + at}`
const year = 365 * 24 * 3600 * 1000

function draw(): DrawnProject & { readonly dates: readonly Date[] } {
  const by = chance(seed)
  const name = (): string => by.word(6, 9)
  const needle = `q${by.word(6, 8).toLowerCase()}`
  const now = Date.now()
  // Each a year or more older than the next one, so that no two are shown as one age.
  const dates = [4, 3, 2, 1].map(years => new Date(now - years * 2 * year - by.whole(1, year)))
  const sizes = [by.whole(1, 9), by.whole(10, 900), by.whole(1_000, 9_000), by.whole(20_000, 700_000)]
  const named = sizes.map(size => [`${name()}.log`, 'x'.repeat(size)] as const)
  const byDate = by.shuffled(dates.map(name))
  return {
    sorted: `sort-${name()}`,
    byDate,
    measured: by.of(byDate),
    bySize: named.map(([file]) => file),
    files: Object.fromEntries(by.shuffled(named)),
    searched: `search-${name()}`,
    needle,
    found: [`${name()}-${needle}`, `${needle}-${name()}.log`, `${name()}.${needle}`],
    outside: `${needle}-${name()}`,
    dates,
  }
}

export interface DrawnStage {
  readonly testbed: WarmTestbed
  readonly screen: Session
  readonly drawn: DrawnProject
  /** The path of what lies in the sample's project on the drive. */
  readonly folder: (...names: readonly string[]) => string
}

const water = 'projects/Water splitting'

/** A drive with these projects, which may be changed, and a screen. */
export async function drawnStage(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<DrawnStage> {
  const { dates, ...drawn } = draw()
  t.comment(`CALCFS_TEST_SEED=${seed}: ${JSON.stringify({ ...drawn, files: undefined })}`)
  const testbed = await warmMount(t, {
    settings: { access: 'manage' },
    fill(seed) {
      fillSampleData(seed)
      seed.addProject({ id: given.sorted, name: drawn.sorted, owner: 'demo', parent: ids.water })
      drawn.byDate.forEach((name, at) => {
        const date = dates[at]?.toISOString()
        seed.addCalculation({
          id: calculationId(at),
          name,
          project: given.sorted,
          files: name === drawn.measured ? drawn.files : { 'a.log': 'text\n' },
          fields: JSON.stringify({ creationDate: date, modificationDate: date }),
        })
      })
      const [calculation = '', file = '', other = ''] = drawn.found
      seed.addProject({ id: given.searched, name: drawn.searched, owner: 'demo', parent: ids.water })
      seed.addProject({ id: given.sub, name: 'inner', owner: 'demo', parent: given.searched })
      seed.addCalculation({
        id: given.high,
        name: 'high',
        project: given.searched,
        files: { [file]: 'text\n' },
      })
      seed.addCalculation({
        id: given.deep,
        name: calculation,
        project: given.sub,
        files: { 'run.log': 'x'.repeat(2_000) },
      })
      // Not in that calculation: PCManFM looks for no more in a folder that it has found.
      seed.addCalculation({
        id: given.plain,
        name: 'plain',
        project: given.sub,
        files: { [other]: 'z'.repeat(3_000_000), 'big.log': 'x'.repeat(2_000_000) },
      })
      seed.addCalculation({ name: drawn.outside, project: ids.water, files: { [drawn.outside]: 'text\n' } })
    },
  })
  const home = join(testbed.local, 'home')
  await writeSettings(home, settings)
  return {
    testbed,
    drawn,
    screen: await session(t, home),
    folder: (...names) => join(testbed.directory, water, ...names),
  }
}

/** Milliseconds without a request after which nothing more is expected. */
const quietMs = 2_000
const patience = 120_000

/** Folders next to one that is walked through whole, of which the drive lists as many ahead (AHEAD-2). */
export const foldersAhead = 8

/**
 * What the service hears during this and until it is quiet again; nothing of it is a change, or about anything but the drawn projects and the way there.
 * @param ahead so many other folders may be listed, and no more of them than that
 */
export async function asksWithin(
  t: Test,
  service: TestService,
  work: () => Promise<void>,
  ahead = 0,
): Promise<readonly string[]> {
  const asked = lines(
    await service.during(async () => {
      await work()
      await quiet(service, { patience, quietMs })
    }),
  )
  const others = asked.filter(line => !isOwn(line))
  const folders = new Set(others.map(line => /[?&]id=(\d+)/.exec(line)?.[1]))
  if (folders.size > ahead || contentsOf(others).length > 0) t.same(others, [], 'nothing outside')
  t.same(
    asked.filter(line => !/^(GET|HEAD) /.test(line)),
    [],
    'nothing is changed',
  )
  return asked
}

const wayThere = new Set(['1', ids.water])
const own = new Set<string>([...Object.values(given), ...[0, 1, 2, 3].map(calculationId)])

function isOwn(line: string): boolean {
  const id = /[?&]id=(\d+)/.exec(line)?.[1]
  if (id === undefined) return line === 'GET /navigation/path/resolve?path=%2Fdb%2Fdemo&type=project'
  return own.has(id) || (wayThere.has(id) && /^GET \/project(\/descendant)?\?/.test(line))
}

/** Of these requests those that fetch the contents of files. */
export const contentsOf = (asked: readonly string[]): readonly string[] =>
  asked.filter(line => line.startsWith('GET') && line.includes('fileId='))

/** The names of the files whose contents these requests fetch, in order; one that is fetched twice is there twice. */
export const filesIn = (asked: readonly string[]): readonly string[] =>
  contentsOf(asked)
    .map(line => line.slice(line.lastIndexOf('=') + 1))
    .toSorted()
