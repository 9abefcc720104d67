// Loaded ahead of a program (`node --import`): measures how late its event loop comes to a timer, and tells it at SIGUSR2.
import { renameSync, writeFileSync } from 'node:fs'

/** What was found since the last question, in milliseconds. */
export interface Delays {
  readonly looks: number
  /** The 99th of a hundred. */
  readonly p99: number
  readonly longest: number
}

/** The file that the answer goes to. */
export const answerVariable = 'CALCFS_BENCH_DELAYS'
const everyMs = 2

const file = process.env[answerVariable]
let late: number[] = []
let due = performance.now() + everyMs

function look(): void {
  late.push(Math.max(0, performance.now() - due))
  due = performance.now() + everyMs
  setTimeout(look, everyMs).unref()
}

if (file !== undefined) {
  setTimeout(look, everyMs).unref()
  process.on('SIGUSR2', () => {
    const sorted = Float64Array.from(late).sort()
    const delays: Delays = {
      looks: sorted.length,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      longest: sorted.at(-1) ?? 0,
    }
    late = []
    writeFileSync(`${file}.new`, JSON.stringify(delays))
    renameSync(`${file}.new`, file)
  })
}
