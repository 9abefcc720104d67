// Seed of what the bench draws: another one in each run, the same in all of its processes.
import { randomInt } from 'node:crypto'

const variable = 'CALCFS_BENCH_SEED'

/** Printed with each result; CALCFS_BENCH_SEED repeats a run. */
export const seed = Number(process.env[variable] ?? randomInt(1_000_000))
process.env[variable] = String(seed)

/** A whole number between two, both included. */
export type Draw = (least: number, most: number) => number

/** The same numbers for the same seed. */
export function drawFrom(from: number): Draw {
  let state = from >>> 0
  return (least, most) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    const share = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    return least + Math.floor(share * (most - least + 1))
  }
}
