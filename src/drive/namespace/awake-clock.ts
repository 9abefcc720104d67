// Awake clock: counts no pause in which no call can arrive (SIGSTOP, a frozen cgroup, a machine that sleeps).
import { type Instant, instant } from '../../remote/remote.js'
import { type MachineClocks, machineClocks } from '../../system/machine-clocks.js'

export interface AwakeClock {
  /** The time of the drive, less all the time in which the event loop stood still. */
  now(): Instant
  /** Milliseconds for which it stood still so far; a later call has had no chance to arrive while this grows. */
  stoodStill(): number
  /** Watches for the next minutes: without a watch nothing counts as standing still. */
  watch(): void
}

const beatMs = 250
/** A beat that is later than this, in milliseconds, came after a standstill, not after some work. */
const lateMs = 1000
/** How long one `watch` lasts, in beats: longer than any pause that is measured with it. */
const beatsOfWatch = 1200

/** Both are compared: the one may stop while the machine sleeps, the other one counts its sleep. The date is none of them: it may be set. */
type ComparedClocks = Pick<MachineClocks, 'monotonic' | 'uptime'>

export function openAwakeClock(now: () => Instant, clocks: ComparedClocks = machineClocks): AwakeClock {
  let still = 0
  let last = { monotonic: 0, uptime: 0 }
  let beatsLeft = 0
  let timer: NodeJS.Timeout | undefined

  /** Also between two beats: after a standstill a call may arrive before the next beat. */
  function look(): void {
    if (timer === undefined) return
    const seen = { monotonic: clocks.monotonic(), uptime: clocks.uptime() }
    const passed = Math.max(seen.monotonic - last.monotonic, seen.uptime - last.uptime)
    last = seen
    if (passed > beatMs + lateMs) still += passed
  }

  function beat(): void {
    look()
    beatsLeft -= 1
    if (beatsLeft > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    now() {
      look()
      return instant(now() - still)
    },
    stoodStill() {
      look()
      return still
    },
    watch() {
      look()
      beatsLeft = beatsOfWatch
      if (timer !== undefined) return
      last = { monotonic: clocks.monotonic(), uptime: clocks.uptime() }
      timer = setInterval(beat, beatMs).unref()
    },
  }
}
