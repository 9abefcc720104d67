// The line that all connections of a relay share in one direction, where it has a limited bandwidth: each waits for its turn.
import { performance } from 'node:perf_hooks'

export interface Line {
  /** Milliseconds, as `performance.now()` tells them, at which a piece that arrives now has left the line. */
  take(bytes: number): number
  /** Whether so much is queued that a sender has to wait. */
  isBusy(): boolean
  /** Calls back when it is this sender's turn; every sender waits once at most. */
  wait(turn: () => void): void
}

/** Milliseconds of traffic that the line queues before senders wait, as a router would hold. */
const longestQueue = 20

/** @param rate bytes a millisecond */
export function openLine(rate: number): Line {
  const senders: (() => void)[] = []
  let free = 0
  let timer: NodeJS.Timeout | undefined

  const queued = (): number => free - performance.now()

  function giveTurns(): void {
    timer = undefined
    // One at a time: what it sends is on the line only when its socket was read.
    if (queued() <= longestQueue) senders.shift()?.()
    arm()
  }

  function arm(): void {
    if (timer !== undefined || senders.length === 0) return
    timer = setTimeout(giveTurns, Math.max(1, Math.floor(queued() - longestQueue)))
  }

  return {
    take(bytes) {
      free = Math.max(performance.now(), free) + bytes / rate
      return free
    },
    isBusy: () => queued() > longestQueue,
    wait(turn) {
      senders.push(turn)
      arm()
    },
  }
}
