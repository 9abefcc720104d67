// How many variants of one promise are tried: all without a kernel; on mounts, where each costs twice as much, and of what costs processes some a day and all at night.
import { chance } from '../long/chance.js'
import type { OpenTestbed } from './testbed.js'
import { libfuseMount, warmMount } from './warm-mount.js'

const isFull = process.env['CALCFS_TEST_FULL'] !== undefined

/** On mounts each so-manieth of them, the first included, unless `CALCFS_TEST_FULL` is set. */
export const variants = <Variant>(
  open: OpenTestbed,
  all: readonly Variant[],
  each: number,
): readonly Variant[] =>
  isFull || (open !== warmMount && open !== libfuseMount) ? all : all.filter((_, at) => at % each === 0)

/** Draws which ones a day tries; a run of all tests draws again for each file. */
const drawn = Number(process.env['CALCFS_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** Whether the one at this place is among each so-manieth of them, from a drawn one on; all are, where `CALCFS_TEST_FULL` is set. */
export const isDrawn = (at: number, each: number): boolean => isFull || (at + drawn) % each === 0

/** Choices, the same ones for the same seed; a test tells the seed where it fails. */
export function drawnFrom(seed = drawn) {
  const pick = chance(seed)
  return { seed, pick, draw: (below: number): number => pick.whole(0, below - 1) }
}
