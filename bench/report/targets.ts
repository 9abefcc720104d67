// Targets of the drive as ratios within one run, each met, missed by how much, or not measured.
import { lineMegabits, type Setting } from '../run/arena.js'
import { type Cell, cellOf, isPeer, secondsOf } from '../run/cells.js'
import type { ScaleRow } from '../run/scale.js'
import type { Figures, Phase } from '../run/trial.js'
import { workload } from '../run/workloads.js'
import type { TreeName } from '../trees/trees.js'

export interface Target {
  readonly what: string
  /** The result, in words; undefined where this run did not measure all of it. */
  readonly found: string | undefined
  /** The used share of the allowance: 1 is just met, 2 is twice too much. */
  readonly used: number | undefined
}

/** Where a figure of the table stands. */
interface At {
  readonly work: string
  readonly roundTrip: number
  readonly phase?: Phase
  readonly tree?: TreeName
  readonly link?: Setting['link']
}

type Known = number | undefined

const sum = (...values: readonly Known[]): Known =>
  values.reduce<Known>(
    (all, value) => (all === undefined || value === undefined ? undefined : all + value),
    0,
  )

const shown = (value: number): string =>
  value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3)

/** Seconds against the seconds of others. */
function atMost(what: string, most: number, mine: Known, theirs: Known): Target {
  const name = `${what}: ≤ ${most} ×`
  if (mine === undefined || theirs === undefined) return { what: name, found: undefined, used: undefined }
  const ratio = mine / theirs
  return {
    what: name,
    found: `${ratio.toFixed(2)} × (${shown(mine)}, ${shown(theirs)} s)`,
    used: ratio / most,
  }
}

function fasterThan(what: string, times: number, mine: Known, peer: Known): Target {
  const name = `${what}: ≥ ${times} × faster`
  if (mine === undefined || peer === undefined) return { what: name, found: undefined, used: undefined }
  const ratio = peer / mine
  return {
    what: name,
    found: `${ratio.toFixed(1)} × (${shown(mine)}, ${shown(peer)} s)`,
    used: times / ratio,
  }
}

function figure(what: string, most: number, value: Known, unit = ''): Target {
  const found = value === undefined ? undefined : `${Math.round(value * 100) / 100}${unit}`
  const used = value === undefined ? undefined : most === 0 ? (value === 0 ? 1 : 1 + value) : value / most
  return { what: `${what}: ≤ ${most}${unit}`, found, used }
}

/** What the cells say. */
function reading(cells: readonly Cell[]) {
  const of = (contender: string, at: At): Figures | undefined => {
    const verdict = cellOf(cells, { ...at, contender })?.verdicts[at.phase ?? 'cold']
    return verdict?.state === 'right' ? verdict.figures : undefined
  }
  const seconds = (contender: string, at: At): Known => of(contender, at)?.seconds

  /** The fastest of the peers that gave the right result. One that was ended at its limit only says that it takes longer: it counts where none came to its end. */
  function bestPeer({ work, roundTrip, phase = 'cold' }: At): Known {
    const usual = (cell: Cell): boolean =>
      cellOf(cells, { work, roundTrip, contender: cell.contender }) === cell
    const peers = cells.filter(isPeer).filter(usual)
    const ended = peers.flatMap(cell => secondsOf(cell, phase) ?? [])
    const limits = peers.flatMap(({ verdicts }) => {
      const verdict = verdicts[phase]
      return verdict?.state === 'late' ? [verdict.limitSeconds] : []
    })
    const times = ended.length > 0 ? ended : limits
    return times.length === 0 ? undefined : Math.min(...times)
  }

  const ofCalcfs = cells
    .filter(({ contender }) => contender === 'calcfs')
    .flatMap(({ verdicts }) => Object.values(verdicts))
    .flatMap(verdict => (verdict.state === 'right' ? [verdict.figures] : []))

  const highest = (name: 'peakBytes' | 'mostHeads' | 'mostShare'): Known =>
    ofCalcfs.length === 0 ? undefined : Math.max(...ofCalcfs.map(figures => figures[name] ?? 0))

  return { of, seconds, bestPeer, highest }
}

type Reading = ReturnType<typeof reading>

const near = (work: string, phase: Phase = 'cold'): At => ({ work, roundTrip: 0, phase })
const far = (work: string, phase: Phase = 'cold'): At => ({ work, roundTrip: 30, phase })

/** What the drive is held to; `scale` are the rows of its scenarios. */
export function targets(cells: readonly Cell[], scale: readonly ScaleRow[]): readonly Target[] {
  const read = reading(cells)
  return [...walks(read), ...copies(read), ...farAway(read), ...others(read, scale)]
}

function walks({ seconds, bestPeer }: Reading): readonly Target[] {
  const own = (at: At): Known => seconds('calcfs', at)
  return [
    ...warmWalks.map(([work, title, most]) =>
      atMost(`${title} warm, 0 ms; best peer`, most, own(near(work, 'warm')), bestPeer(near(work, 'warm'))),
    ),
    atMost(
      '`ls -lR` cold, 0 ms; pass-through + raw ×64',
      2,
      own(near('ls-lR')),
      sum(seconds('pass-through', near('ls-lR')), seconds('raw ×64', near('ls-lR'))),
    ),
    atMost(
      '`ls -lR` after a remount, 0 ms; best peer',
      0.8,
      own(near('ls-lR', 'remount')),
      bestPeer(near('ls-lR', 'remount')),
    ),
  ]
}

const warmWalks = [
  ['ls-lR', '`ls -lR`', 0.9],
  ['find', '`find`', 1.2],
  ['stats', '2,000 stats', 1.1],
] as const
/** Programs that read files of a cold drive, one after another or side by side. */
const readers = [
  ['md5-part-P1', 'md5sum -P1'],
  ['md5-part-P8', 'md5sum -P8'],
  ['grep', '`grep -r`'],
  ['analysis', 'open, parse, close'],
] as const

function copies({ of, seconds, bestPeer }: Reading): readonly Target[] {
  const own = (at: At): Known => seconds('calcfs', at)
  const against = (what: string, most: number, at: At): Target =>
    atMost(`${what}; fastest peer`, most, own(at), bestPeer(at))
  const floor = (at: At): Known => sum(seconds('raw ×16', at), seconds('pass-through', at))
  const [mine, raw, pass] = ['calcfs', 'raw ×16', 'pass-through'].map(name => of(name, near('cp')))
  return [
    against('`cp -r` lab cold, 0 ms', 0.6, near('cp')),
    atMost('the same; raw ×16 + pass-through', 1.5, own(near('cp')), floor(near('cp'))),
    atMost(
      'its processor seconds; raw ×16 + pass-through',
      2,
      mine?.cpuSeconds,
      sum(raw?.cpuSeconds, pass?.cpuSeconds),
    ),
    against('`cp -r` lab warm, 0 ms', 0.6, near('cp', 'warm')),
    against('`cp -r` lab after a remount, 0 ms', 0.4, near('cp', 'remount')),
    atMost('`dd` 1 GiB cold, 0 ms; raw ×16 + pass-through', 1.5, own(near('dd')), floor(near('dd'))),
    atMost(
      '`dd` 1 GiB after a remount, 0 ms; pass-through',
      1.2,
      own(near('dd', 'remount')),
      seconds('pass-through', near('dd', 'remount')),
    ),
    ...readers.map(([work, title]) => against(`${title}, cold, 0 ms`, 1, near(work))),
  ]
}

/** Orders of one walk, and trees of other names. */
const orders = [
  { title: 'the walk backwards', works: ['walk-backwards', 'ls-lrR'] },
  { title: 'the walk shuffled', works: ['walk-shuffled'] },
  { title: 'the walk all over the tree', works: ['walk-scattered'] },
  { title: "the walk in a locale's order", works: ['walk-locale'] },
  { title: 'the walk by `os.walk`', works: ['walk-os', 'os-walk'] },
  { title: 'two walks at once', works: ['walk-two', 'ls-two'] },
  { title: '`ls -lR` of names without zeros', works: ['ls-lR'], tree: 'unpadded' },
  { title: '`ls -lR` of a tree drawn at random', works: ['ls-lR'], tree: 'random' },
] as const

function farAway({ of, seconds, bestPeer }: Reading): readonly Target[] {
  const own = (at: At): Known => seconds('calcfs', at)
  const copy = of('calcfs', far('cp-part'))
  const share =
    copy?.unreadBytes === undefined || !copy.contentBytes
      ? undefined
      : (100 * copy.unreadBytes) / copy.contentBytes
  const first = of('calcfs', far('head'))
  const slow = of('calcfs', { ...far('cp-part'), link: 'line' })
  const times =
    slow?.contentBytes === undefined
      ? undefined
      : (slow.seconds * lineMegabits * 1e6) / (8 * slow.contentBytes)
  return [
    atMost('`ls -lR` cold, 30 ms; raw ×64', 1.3, own(far('ls-lR')), seconds('raw ×64', far('ls-lR'))),
    fasterThan('`cp -r` of a fifth, 30 ms; every peer', 15, own(far('cp-part')), bestPeer(far('cp-part'))),
    atMost(
      '`cp -r` of a fifth, 30 ms; raw ×16',
      1.3,
      own(far('cp-part')),
      seconds('raw ×16', far('cp-part')),
    ),
    figure(
      '`cp -r` of a fifth on a line of 100 Mbit/s, 30 ms; the time of its bytes alone',
      1.09,
      times,
      ' ×',
    ),
    ...orders.map(({ title, works, ...tree }) => {
      const work = works.find(name => workload(name) !== undefined) ?? works[0]
      // A tree that this build does not draw has no cells.
      const at = { ...far(work), ...(tree as { readonly tree?: TreeName }) }
      return atMost(`${title}, 30 ms; raw ×16`, 1, own(at), seconds('raw ×16', at))
    }),
    figure('fetched and never read, in the copy of a fifth', 5, share, ' %'),
    figure('first 4 KiB of the big file, bare mount, 30 ms: round trips', 6.8, first && first.seconds / 0.03),
  ]
}

function others({ of, seconds, highest }: Reading, scale: readonly ScaleRow[]): readonly Target[] {
  const row = (key: ScaleRow['key']): Known => scale.find(one => one.key === key)?.value
  const memory = highest('peakBytes')
  const tail = of('calcfs', far('tail'))
  const heads = highest('mostHeads')
  return [
    figure('mounted, empty cache; node -e 0', 9, row('mounted empty'), ' ×'),
    figure('mounted, 100,000 kept files after kill -9; node -e 0', 13, row('mounted kept'), ' ×'),
    figure('`status` of a mounted drive; node -e 0', 3.5, row('command'), ' ×'),
    figure('peak memory, any workload', 256, memory === undefined ? undefined : memory / 1e6, ' MB'),
    figure('peak memory, 100,000 calculations', 256, row('peak'), ' MB'),
    figure('memory one minute after that', 150, row('rest'), ' MB'),
    atMost(
      'md5sum -P1 of the `.out` of a fifth, 30 ms; -P8',
      2,
      seconds('calcfs', far('md5-part-P1')),
      seconds('calcfs', far('md5-part-P8')),
    ),
    figure('last 4 KiB of the big file: requests for its content', 3, tail?.mostGets),
    figure('the same: fetched', 1, tail?.bytes === undefined ? undefined : tail.bytes / 1e6, ' MB'),
    figure('8 readers of it: times its size fetched', 1.001, of('calcfs', far('readers8'))?.mostShare),
    figure('each file, ever: times its bytes fetched', 1.001, highest('mostShare')),
    figure('each file, ever: HEADs', 1, heads),
    figure('warm walk within the TTL: requests', 0, of('calcfs', near('ls-lR', 'warm'))?.requests),
    figure(
      '`cp -r` after a remount: bodies fetched of a file',
      0,
      of('calcfs', near('cp', 'remount'))?.mostGets,
    ),
    figure('a folder opened: requests', 30, of('calcfs', far('folder'))?.requests),
  ]
}

/** `met`, `missed, 1.40 times what is allowed` or `not measured`. */
export function judged({ used }: Target): string {
  if (used === undefined) return 'not measured'
  return used <= 1 ? 'met' : `missed: ${used.toFixed(2)} × what is allowed`
}
