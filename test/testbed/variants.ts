// How many variants of one promise are tried: all without a kernel; on mounts, where each costs twice as much, some a day and all at night.
import type { OpenTestbed } from './testbed.js'
import { warmMount } from './warm-mount.js'

const isFull = process.env['CALCFS_TEST_FULL'] !== undefined

/** On mounts each so-manieth of them, the first included, unless `CALCFS_TEST_FULL` is set. */
export const variants = <Variant>(
  open: OpenTestbed,
  all: readonly Variant[],
  each: number,
): readonly Variant[] => (isFull || open !== warmMount ? all : all.filter((_, at) => at % each === 0))
