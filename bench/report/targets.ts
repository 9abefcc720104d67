// Targets of the drive as ratios within one run, each met, missed by how much, or not measured.
import type { Figures, Phase } from '../run/trial.js'
import { type Cell, cellOf, secondsOf } from './results.js'

export interface Target {
  readonly what: string
  /** The result, in words; undefined where this run did not measure it. */
  readonly found: string | undefined
  /** The used share of the allowance: 1 is just met, 2 is twice too much. */
  readonly used: number | undefined
}

type At = readonly [work: string, roundTrip: number, contender: string, phase?: Phase]

const mounts = ['rclone', 'davfs2', 'sshfs', 'httpdirfs']

/** The results of all targets. */
export function targets(cells: readonly Cell[]): readonly Target[] {
  const seconds = ([work, roundTrip, contender, phase = 'cold']: At): number | undefined =>
    secondsOf(cellOf(cells, { work, roundTrip, contender }), phase)
  const own = (work: string, roundTrip: number, phase: Phase = 'cold') =>
    seconds([work, roundTrip, 'calcfs', phase])
  const figures = (work: string, roundTrip: number, phase: Phase = 'cold'): Figures | undefined => {
    const verdict = cellOf(cells, { work, roundTrip, contender: 'calcfs' })?.verdicts[phase]
    return verdict?.state === 'right' ? verdict.figures : undefined
  }

  /** The fastest of the peers that gave the right result; one that was ended counts with its limit. */
  function bestPeer(work: string, roundTrip: number): number | undefined {
    const peers = cells.filter(
      cell =>
        cell.work === work &&
        cell.roundTrip === roundTrip &&
        mounts.some(name => cell.contender.startsWith(name)),
    )
    const times = peers.flatMap(({ verdicts: { cold } }) => {
      if (cold?.state === 'right') return [cold.figures.seconds]
      return cold?.state === 'late' ? [cold.limitSeconds] : []
    })
    return times.length === 0 ? undefined : Math.min(...times)
  }

  const atMost = (
    what: string,
    most: number,
    mine: number | undefined,
    theirs: number | undefined,
  ): Target => {
    if (mine === undefined || theirs === undefined) return { what, found: undefined, used: undefined }
    const ratio = mine / theirs
    return {
      what,
      found: `${ratio.toFixed(2)} × (${mine.toFixed(2)} s, ${theirs.toFixed(2)} s)`,
      used: ratio / most,
    }
  }
  const fasterThan = (
    what: string,
    times: number,
    mine: number | undefined,
    peer: number | undefined,
  ): Target => {
    if (mine === undefined || peer === undefined) return { what, found: undefined, used: undefined }
    const ratio = peer / mine
    return { what, found: `${ratio.toFixed(1)} × faster`, used: times / ratio }
  }
  const count = (what: string, most: number, value: number | undefined): Target => ({
    what,
    found: value === undefined ? undefined : String(Math.round(value * 100) / 100),
    used: value === undefined ? undefined : most === 0 ? (value === 0 ? 1 : 1 + value) : value / most,
  })
  const highest = (name: 'peakBytes' | 'mostGets' | 'mostHeads' | 'mostShare'): number | undefined => {
    const all = cells
      .filter(({ contender }) => contender === 'calcfs')
      .flatMap(({ verdicts }) => Object.values(verdicts))
      .flatMap(verdict => (verdict.state === 'right' ? [verdict.figures[name] ?? 0] : []))
    return all.length === 0 ? undefined : Math.max(...all)
  }

  const pass = (phase: Phase): Target =>
    atMost(
      `\`cp -r\` lab, ${phase}: ≤ 1.2 × pass-through`,
      1.2,
      own('cp', 0, phase),
      seconds(['cp', 0, 'pass-through', phase]),
    )
  const firstPage = own('head', 30)
  const memory = highest('peakBytes')
  const tailBytes = figures('tail', 30)?.bytes
  return [
    ...['ls-lR', 'find'].flatMap(work => [
      atMost(
        `\`${work}\` cold, 30 ms: ≤ 1.3 × raw at 16 connections`,
        1.3,
        own(work, 30),
        seconds([work, 30, 'raw ×16']),
      ),
      fasterThan(
        `\`${work}\` cold, 30 ms: ≥ 4 × faster than every peer`,
        4,
        own(work, 30),
        bestPeer(work, 30),
      ),
    ]),
    atMost(
      '`cp -r` lab, cold, 30 ms: ≤ 1.5 × raw at 16 connections',
      1.5,
      own('cp', 30),
      seconds(['cp', 30, 'raw ×16']),
    ),
    fasterThan(
      '`cp -r` of a fifth, cold, 30 ms: ≥ 10 × faster than every peer',
      10,
      own('cp-part', 30),
      bestPeer('cp-part', 30),
    ),
    atMost('`cp -r` lab, cold, 0 ms: no slower than the fastest peer', 1, own('cp', 0), bestPeer('cp', 0)),
    atMost(
      '`cp -r` lab, cold, 0 ms: ≤ 1.6 × pass-through',
      1.6,
      own('cp', 0),
      seconds(['cp', 0, 'pass-through']),
    ),
    pass('warm'),
    pass('remount'),
    atMost('md5sum -P1 of all `.out`, cold, 30 ms: ≤ 2 × -P8', 2, own('md5-P1', 30), own('md5-P8', 30)),
    atMost('big file, cold, 30 ms: ≤ 1.25 × raw', 1.25, own('dd', 30), seconds(['dd', 30, 'raw ×16'])),
    count('its first 4 KiB, 30 ms: ≤ 80 ms (two round trips and 20 ms)', 0.08, firstPage),
    count('its last 4 KiB: ≤ 3 requests for its content', 3, figures('tail', 30)?.mostGets),
    count('its last 4 KiB: < 1 MB', 1, tailBytes === undefined ? undefined : tailBytes / 1e6),
    count('8 readers of it: one download (times its size)', 1.001, figures('readers8', 30)?.mostShare),
    count('each file, ever: its bytes once', 1.001, highest('mostShare')),
    count('each file, ever: ≤ 1 HEAD', 1, highest('mostHeads')),
    count('warm walk within the TTL: no request', 0, figures('ls-lR', 0, 'warm')?.requests),
    count('after a remount: no byte of content (`cp -r`)', 0, figures('cp', 0, 'remount')?.mostGets),
    count('a folder opened: ≤ 30 requests, the way to it and its own', 30, figures('folder', 30)?.requests),
    count('peak memory, any workload: < 200 MB', 200, memory === undefined ? undefined : memory / 1e6),
    atMost(
      '2,000 warm stats: goal 1.3 × pass-through',
      1.3,
      own('stats', 0, 'warm'),
      seconds(['stats', 0, 'pass-through', 'warm']),
    ),
  ]
}

/** `met`, `missed, 1.40 times what is allowed` or `not measured`. */
export function judged({ used }: Target): string {
  if (used === undefined) return 'not measured'
  return used <= 1 ? 'met' : `missed: ${used.toFixed(2)} × what is allowed`
}
