// How long something takes on a machine whose processors other tests use as well.
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** Of what passed, at most so much is put down to others: three quarters, or what is left to one of those that run now. */
const mostOfOthers = (): number => 1 - Math.min(0.25, availableParallelism() / Math.max(...loadavg()))

/** Milliseconds since the start of the machine in which a program waited for a processor; 0 where the kernel does not count them. */
function starved(): number {
  try {
    const [, microseconds] = /^some .* total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? []
    return Number(microseconds ?? 0) / 1000
  } catch {
    return 0
  }
}

/**
 * Milliseconds since the call, less those in which a program of this machine waited for a processor: what a limit of a test
 * is compared with. Beside four busy programs a processor the time by the clock is up to four times as long.
 */
export function stopwatch(): () => number {
  const began = performance.now()
  const before = starved()
  return () => {
    const passed = performance.now() - began
    return Math.round(passed - Math.min(starved() - before, mostOfOthers() * passed))
  }
}
