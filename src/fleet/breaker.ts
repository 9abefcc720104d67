// Breaker of a fleet: one failure or one slow command, and it is passed by for five seconds. A beat tells while it is used.
import { performance } from 'node:perf_hooks'
import type { Clock } from '../remote/clock.js'

/** Milliseconds of waiting without a byte of the server after which a command is slow. */
const slowMs = 100
/** Milliseconds for any command, however busy this process is and whatever comes meanwhile. */
const longestMs = 1_000
/** Milliseconds for which the fleet is passed by, and between two beats while it is used. */
const [pauseMs, beatMs] = [5_000, 500]
/** Before the first connection. */
export const notYet = 'it is not connected yet'

interface BreakerPorts {
  readonly clock: Clock
  /** Rejects where the fleet is of no use. `isBack`: it was passed by until now. */
  readonly beat: (isBack: boolean) => Promise<void>
  /** In words, why a command was rejected. */
  readonly reasonOf: (thrown: unknown) => string
  readonly opened: (sentence: string) => void
  readonly closed: () => void
}

export class FleetBreaker {
  /** Why the fleet is passed by; undefined while it is used. */
  why: string | undefined = notYet
  private stop = () => {}
  private isEnded = false

  constructor(private readonly ports: BreakerPorts) {}

  open(sentence: string): void {
    if (this.isEnded) return
    const isNews = this.why !== sentence
    this.why = sentence
    this.again(pauseMs)
    if (isNews) this.ports.opened(sentence)
  }

  /** Beats at once. */
  async beat(): Promise<void> {
    this.stop()
    const isBack = this.why !== undefined
    try {
      await this.ports.beat(isBack)
    } catch (thrown) {
      return this.open(this.ports.reasonOf(thrown))
    }
    // Another command may have failed meanwhile.
    if (this.isEnded || isBack !== (this.why !== undefined)) return
    this.why = undefined
    this.again(beatMs)
    if (isBack) this.ports.closed()
  }

  end(): void {
    this.isEnded = true
    this.stop()
  }

  private again(milliseconds: number): void {
    this.stop()
    this.stop = this.ports.clock.after(milliseconds, () => void this.beat(), 'in-background')
  }
}

/** Milliseconds in which this thread had nothing to do but wait: time in which it was busy is not the fleet's. */
const idle = (): number => performance.eventLoopUtilization().idle

/** @throws Error where the command is slow; it goes on without its caller. `moved` grows with each byte of its connection */
export async function inTime<Answer>(
  command: Promise<Answer>,
  clock: Clock,
  moved: () => number,
): Promise<Answer> {
  const end = clock.now() + longestMs
  let seen = moved()
  let since = idle()
  let stop = () => {}
  const late = new Promise<never>((_, reject) => {
    const look = (): void => {
      const now = moved()
      if (now !== seen) since = idle()
      seen = now
      const left = Math.min(slowMs - (idle() - since), end - clock.now())
      // An answer that came while this process was busy is read before the next timer.
      if (left <= 0) setImmediate(() => reject(new Error('it does not answer')))
      else stop = clock.after(Math.max(1, Math.ceil(left)), look)
    }
    stop = clock.after(slowMs, look)
  })
  try {
    return await Promise.race([command, late])
  } finally {
    stop()
  }
}
