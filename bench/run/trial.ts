// One peer does one workload: cold, warm and after a remount, several times; each result is compared with the truth.
import { mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Mounted, Peer, Place } from '../peers/peers.js'
import { median, timed } from '../processes/measure.js'
import { forgetPeaks, used } from '../processes/measure-processes.js'
import { dropPages } from '../processes/page-cache.js'
import type { Arena } from './arena.js'
import { unread } from './reading.js'
import { environmentOf, type Workload } from './workloads.js'

export const phases = ['cold', 'warm', 'remount'] as const
export type Phase = (typeof phases)[number]

/** What one phase cost. */
export interface Figures {
  readonly seconds: number
  /** Requests that the origin counted; undefined where they do not pass its counters, as with sshfs. */
  readonly requests?: number
  /** Bytes of bodies that the origin sent. */
  readonly bytes?: number
  /** Of the file with the most requests: GETs with a body, HEADs, and how many times its own size was sent. */
  readonly mostGets?: number
  readonly mostHeads?: number
  readonly mostShare?: number
  /** The most requests of which each began when the answer before it had come back. */
  readonly inSequence?: number
  /** Bytes of files that the origin sent, and those of them that the workload never read. */
  readonly contentBytes?: number
  readonly unreadBytes?: number
  /** Files that the result counts. */
  readonly files?: number
  /** Seconds that mounting took, before this phase. */
  readonly mountSeconds?: number
  /** Seconds of processor time of the mount's processes. */
  readonly cpuSeconds?: number
  /** Bytes: the highest resident memory of the mount's processes. */
  readonly peakBytes?: number
}

/** How a phase ended. */
export type Verdict =
  | { readonly state: 'right'; readonly figures: Figures; readonly runs: number }
  | { readonly state: 'wrong' | 'failed'; readonly why: string }
  | { readonly state: 'late'; readonly limitSeconds: number }

export type Verdicts = Partial<Record<Phase, Verdict>>

/** Where trials keep their mount points, caches and copies. */
export interface Workshop {
  /** On the local disk. */
  readonly base: string
  /** In memory where the machine has such a directory. */
  readonly scratch: string
  /** Set by an interrupt: nothing is begun any more. */
  stopped: boolean
}

export interface Setting {
  readonly peer: Peer
  readonly work: Workload
  readonly arena: Arena
  /** The workload's result on the local disk. */
  readonly truth: string
}

/** Seconds of each phase, after which it is ended. */
export type Limits = Readonly<Record<Phase, number>>

type Told = (phase: Phase, verdict: Verdict) => void

/** One run. */
export async function trial(setting: Setting, limits: Limits, workshop: Workshop): Promise<Verdicts> {
  const told: Verdicts[] = []
  await oneRun(setting, limits, workshop, (phase, verdict) => {
    told.push({ [phase]: verdict })
  })
  return summed(told)
}

/** Several runs as one. */
export function summed(runs: readonly Verdicts[]): Verdicts {
  const verdicts: Verdicts = {}
  for (const phase of phases) {
    const one = summary(runs.flatMap(run => run[phase] ?? []))
    if (one !== undefined) verdicts[phase] = one
  }
  return verdicts
}

/** A short work is over before a single figure of it means anything: its warm phase is the median of so many. */
const warmPhases = ['warm', 'warm', 'warm', 'warm', 'warm'] as const
const shortSeconds = 0.3

async function oneRun(setting: Setting, limits: Limits, workshop: Workshop, tell: Told): Promise<void> {
  const place = freshPlace(workshop)
  let phase: Phase = 'cold'
  try {
    for (const together of [['cold', ...warmPhases], ['remount']] as const) {
      phase = together[0]
      if (workshop.stopped) return
      const began = performance.now()
      const mounted = await setting.peer.mount(setting.arena.doors, place)
      const mountSeconds = (performance.now() - began) / 1000
      try {
        for (phase of together) {
          const verdict = await onePhase(setting, mounted, limits[phase], workshop)
          tell(phase, phase === 'warm' ? verdict : withMount(verdict, mountSeconds))
          // A mount that is late warm is asked once more after a remount, which only its cold time foretells.
          if (verdict.state === 'late' && phase === 'warm') break
          if (verdict.state !== 'right') return
          if (phase === 'warm' && verdict.figures.seconds > shortSeconds) break
        }
      } finally {
        await mounted.unmount()
      }
      await dropPages(place.cache)
    }
  } catch (thrown) {
    tell(phase, { state: 'failed', why: thrown instanceof Error ? thrown.message : String(thrown) })
  } finally {
    leaveEmpty(place.cache)
  }
}

/**
 * Gives the room back and leaves the files until the end of the run: for a minute after thousands of files were deleted,
 * ext4 takes up to half a millisecond to find a number for each new one, which would count against the next cold run.
 */
function leaveEmpty(directory: string): void {
  try {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) truncateSync(join(entry.parentPath, entry.name))
  } catch {
    // A program that has not ended yet still writes there: then the next run may pay for it.
    rmSync(directory, { recursive: true, force: true })
  }
}

const withMount = (verdict: Verdict, mountSeconds: number): Verdict =>
  verdict.state === 'right' ? { ...verdict, figures: { ...verdict.figures, mountSeconds } } : verdict

/** A name of its own for each run: where a mount hangs, the next one does not meet it. */
let places = 0

function freshPlace(workshop: Workshop): Place {
  places += 1
  const place = {
    mountPoint: join(workshop.base, `mount-${places}`),
    cache: join(workshop.base, `cache-${places}`),
    log: join(workshop.base, `log-${places}`),
  }
  for (const directory of [place.mountPoint, place.cache])
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  return place
}

/** Milliseconds in which requests begun in this phase still count for it. */
const afterglow = 100

async function onePhase(
  { peer, work, arena, truth }: Setting,
  mounted: Mounted,
  limitSeconds: number,
  workshop: Workshop,
): Promise<Verdict> {
  await arena.counts()
  await forgetPeaks(mounted.processes)
  const before = await used(mounted.processes)
  const line = mounted.lines?.[work.name] ?? work.line
  const ran = await perform({ ...work, line }, mounted.root, limitSeconds, workshop)
  await wait(afterglow)
  const after = await used(mounted.processes)
  const counts = await arena.counts()
  if (ran.state === 'late') return { state: 'late', limitSeconds }
  if (ran.result !== truth)
    return { state: 'wrong', why: `${ran.result} instead of ${truth}: ${ran.complaint}` }
  const { requests, bytes, mostGets, mostHeads, mostShare, inSequence } = counts
  const files = /^(\d+) files /.exec(ran.result)?.[1]
  const figures = {
    seconds: ran.seconds,
    ...(peer.counted ? { requests, bytes, mostGets, mostHeads, mostShare, inSequence } : {}),
    ...(peer.counted ? unread(counts.contents, arena.tree, work.name) : {}),
    ...(files === undefined ? {} : { files: Number(files) }),
    ...(mounted.processes.length === 0
      ? {}
      : { cpuSeconds: after.cpuSeconds - before.cpuSeconds, peakBytes: after.peakBytes }),
  }
  return { state: 'right', figures, runs: 1 }
}

export type Performed =
  | { readonly state: 'late' }
  | { readonly state: 'done'; readonly seconds: number; readonly result: string; readonly complaint: string }

/** Does a workload below `root`, and takes its result once the clock has stopped. */
export async function perform(
  work: Workload,
  root: string,
  limitSeconds: number,
  { scratch }: Workshop,
): Promise<Performed> {
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  const directory = join(root, work.within)
  const environment = environmentOf(scratch)
  const ran = await timed({ line: work.line, directory, environment, limitSeconds, scratch })
  if (ran.end === 'late') return { state: 'late' }
  const result = await resultOf(work, { root, scratch, ...ran })
  const seconds = work.ownClock ? ownSeconds(ran.output) : ran.seconds
  return { state: 'done', seconds, result, complaint: ran.complaint.slice(-300) }
}

/** A result that cannot be taken is a wrong one, with its reason. */
async function resultOf(work: Workload, outcome: Parameters<Workload['result']>[0]): Promise<string> {
  try {
    return await work.result(outcome)
  } catch (thrown) {
    return `no result (${String(thrown)})`
  }
}

function ownSeconds(output: string): number {
  const said = /"seconds":([\d.e-]+)/.exec(output)?.[1]
  return said === undefined ? Number.NaN : Number(said)
}

/** The middle of the right ones; anything else counts more than all of them. */
function summary(verdicts: readonly Verdict[]): Verdict | undefined {
  const bad = verdicts.find(({ state }) => state !== 'right')
  if (bad !== undefined || verdicts.length === 0) return bad
  const figures = verdicts.flatMap(verdict => (verdict.state === 'right' ? [verdict.figures] : []))
  const [first] = figures
  if (first === undefined) return undefined
  const names = Object.keys(first) as (keyof Figures)[]
  const middle = names.map(name => [name, middleOf(name, figures)] as const)
  return { state: 'right', runs: figures.length, figures: { ...first, ...Object.fromEntries(middle) } }
}

/** Memory is the highest of all runs, everything else the median. */
function middleOf(name: keyof Figures, figures: readonly Figures[]): number {
  const values = figures.map(one => one[name]).filter(value => value !== undefined)
  return name === 'peakBytes' || name.startsWith('most') ? Math.max(...values) : median(values)
}
