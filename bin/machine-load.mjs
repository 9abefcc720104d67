// Load of the machine by other work, which every limit of time in the tests is measured against.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds of a look; it is taken while no test runs. */
const lookMs = 1_000
/** Share of all processors from which other work makes tests late. */
const muchWork = 0.5

/** Busy and all time of the processors, in ticks. */
function ticks() {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const times = first.trim().split(/\s+/).slice(1, 9).map(Number)
  const all = times.reduce((sum, one) => sum + one, 0)
  const [, , , idle = 0, waiting = 0] = times
  return { all, busy: all - idle - waiting }
}

/** Whether other programs take half of the processors or more; false where the system does not tell it. */
export async function isMachineBusy() {
  try {
    const before = ticks()
    await setTimeout(lookMs)
    const now = ticks()
    return now.busy - before.busy >= muchWork * (now.all - before.all)
  } catch {
    return false
  }
}
