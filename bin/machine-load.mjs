// Load of the machine: how busy its processors are, by whatever work.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** Busy and all time of the processors, in ticks; none where the system does not tell them. */
function ticks() {
  const text = existsSync('/proc/stat') ? readFileSync('/proc/stat', 'utf8') : ''
  const [first = ''] = text.split('\n')
  const times = first.trim().split(/\s+/).slice(1, 9).map(Number)
  const all = times.reduce((sum, one) => sum + one, 0)
  const [, , , idle = 0, waiting = 0] = times
  return { all, busy: all - idle - waiting }
}

/** The share of the processors that works during so many milliseconds, from 0 to 1; 0 where the system does not tell it. */
export async function busyShare(milliseconds) {
  const before = ticks()
  await setTimeout(milliseconds)
  const now = ticks()
  return (now.busy - before.busy) / Math.max(1, now.all - before.all)
}
