// About how long one run of a cell takes (two mounts, cold, warm, remount, comparing), for the plan's time alone.
import type { Contender } from '../run/contenders.js'
import type { Item } from './plan.js'

/** Seconds at 0 and at 30 ms, on two cores. */
type Pair = readonly [near: number, far: number]

const columns = [
  'calcfs',
  'raw',
  'floor',
  'rclone http',
  'rclone webdav',
  'davfs2',
  'sshfs',
  'httpdirfs',
] as const
type Column = (typeof columns)[number]

/** A pair for each column; measured on 2026-11-21 and 23, with what is ended early counted as ended. */
const rows: Readonly<Record<string, readonly Pair[]>> = {
  'ls-lR': [
    [8, 10],
    [0.8, 5],
    [4, 4],
    [5, 25],
    [14, 38],
    [3, 42],
    [5, 25],
    [18, 0.5],
  ],
  find: [
    [5, 6],
    [0.6, 1.5],
    [3, 3],
    [4, 22],
    [13, 38],
    [3, 42],
    [4, 25],
    [18, 0.5],
  ],
  stats: [
    [6, 8],
    [0, 0],
    [3, 3],
    [4, 20],
    [10, 25],
    [3, 20],
    [3, 20],
    [8, 0.5],
  ],
  walk: [
    [8, 10],
    [0.8, 5],
    [4, 4],
    [5, 25],
    [14, 38],
    [3, 42],
    [5, 25],
    [18, 0.5],
  ],
  cp: [
    [25, 30],
    [1.2, 6],
    [9, 9],
    [20, 60],
    [50, 60],
    [10, 60],
    [15, 60],
    [12, 0.5],
  ],
  'cp-part': [
    [8, 9],
    [0.6, 1.3],
    [4, 4],
    [8, 45],
    [14, 45],
    [4, 45],
    [5, 45],
    [10, 40],
  ],
  md5: [
    [11, 13],
    [1, 3.5],
    [6, 6],
    [8, 40],
    [22, 40],
    [6, 40],
    [7, 40],
    [12, 0.5],
  ],
  'md5-part-P1': [
    [5, 6],
    [0.5, 1],
    [3, 3],
    [4, 20],
    [8, 22],
    [3, 22],
    [3, 30],
    [10, 20],
  ],
  'md5-part-P8': [
    [5, 5],
    [0.5, 0.8],
    [3, 3],
    [3, 12],
    [7, 14],
    [3, 20],
    [3, 14],
    [10, 20],
  ],
  folder: [
    [2.5, 3],
    [0, 0],
    [2, 2],
    [1.5, 3],
    [2, 3],
    [1.5, 2.5],
    [2.5, 5],
    [4, 5],
  ],
  dd: [
    [20, 18],
    [1.5, 2.5],
    [4, 4],
    [10, 16],
    [10, 16],
    [8, 12],
    [7, 17],
    [10, 20],
  ],
  page: [
    [2.5, 3],
    [0, 0],
    [2, 2],
    [1.5, 2],
    [1.5, 2],
    [6, 9],
    [2.5, 4],
    [3, 4],
  ],
  readers8: [
    [16, 16],
    [1.5, 2.5],
    [5, 5],
    [12, 16],
    [12, 16],
    [8, 12],
    [9, 17],
    [15, 18],
  ],
  random: [
    [4, 6],
    [0, 0],
    [2, 2],
    [3, 10],
    [4, 12],
    [6, 9],
    [3, 8],
    [4, 10],
  ],
  'ls-wide': [
    [4, 4],
    [0, 0],
    [3, 3],
    [4, 22],
    [3, 3],
    [2, 2.5],
    [2.5, 4],
    [18, 0.5],
  ],
  'ls-deep': [
    [3, 4],
    [0.5, 0.8],
    [2, 2],
    [2, 8],
    [3, 8],
    [2, 7],
    [3, 8],
    [10, 15],
  ],
}

/** Rows that several workloads share. */
const rowOf = (work: string): readonly Pair[] =>
  rows[work] ??
  rows[
    /^md5-P/.test(work)
      ? 'md5'
      : /^(grep|analysis)$/.test(work)
        ? 'md5-part-P1'
        : /^(head|tail)$/.test(work)
          ? 'page'
          : 'walk'
  ] ??
  []

const columnOf = ({ name }: Contender): Column | undefined => columns.find(column => name.startsWith(column))

/** What the local disk does, with the comparing. */
const diskSeconds: Readonly<Record<string, number>> = { cp: 5, 'cp-part': 2, dd: 2, readers8: 3 }

const farAway = 30
/** Of a tree that is smaller than the workload's own. */
const shareOf: Partial<Readonly<Record<string, number>>> = { small: 0.15, unpadded: 0.5, random: 0.6 }
/** On a line that all share. */
const lineSeconds: Readonly<Record<string, number>> = { 'cp-part': 6 }

/** Seconds of one run. */
export function secondsOnce(contender: Contender, { work, tree, roundTrip, link }: Item): number {
  const column = columnOf(contender)
  if (column === undefined) return diskSeconds[work.name] ?? 1
  const [near, far] = rowOf(work.name)[columns.indexOf(column)] ?? [5, 10]
  // Farther away the others are ended before they get farther.
  const share = Math.min(roundTrip / farAway, contender.rank === 'own' ? 3 : 1.2)
  const seconds = Math.max(0.3, near + (far - near) * share)
  const smaller = tree === work.tree ? undefined : shareOf[tree]
  if (smaller !== undefined) return 1 + smaller * seconds
  return seconds + (link === 'line' ? (lineSeconds[work.name] ?? 0) : 0)
}
