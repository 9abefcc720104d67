// Fleet breaker: a fleet that is slow or gone is passed by at once, and comes back by itself.
import type { Clock } from '../../remote/clock.js'

export interface FleetBreaker {
  /** Nothing is asked of the fleet. */
  readonly isOpen: boolean
  /** Why, in words; undefined where it is closed. */
  readonly why: string | undefined
  /** Milliseconds that the median command of the last moment took; undefined where none was answered lately. */
  readonly median: number | undefined
  /** An answer came after so many milliseconds. */
  answered(milliseconds: number): void
  failed(sentence: string): void
  /** It said nothing for longer than it was waited for: it may only have had a lot to do, and is probed at once. */
  silent(sentence: string): void
  /** There is a connection now: a probe need not wait, unless the last ones did not last. */
  connected(): void
  end(): void
}

export interface FleetBreakerPorts {
  readonly clock: Clock
  /** One command that every server answers; its milliseconds, or a rejection. */
  readonly probe: () => Promise<number>
  /** Milliseconds between two probes at the most while they fail; each pause is twice as long. */
  readonly longestFailingPauseMs?: number
  /** In words, why a probe was rejected. */
  readonly reasonOf: (thrown: unknown) => string
  readonly opened: (sentence: string) => void
  readonly closed: () => void
}

/** Milliseconds at the median over which a fleet is slower than most services. */
export const slowMs = 50
/** The moment that counts: so many commands, none older than this. */
const momentCommands = 15
const momentMs = 2_000
/** Milliseconds between two probes of a fleet that is passed by, and how many good ones in a row bring it back. */
const probeEveryMs = 500
const goodProbes = 2
/** What is passed by again so soon after it came back is probed half as often each time, down to once in the longest pause. */
const soonMs = 5_000
const longestPauseMs = 30_000
/** Before the first connection. */
export const notYet = 'it is not connected yet'

export function openFleetBreaker({
  clock,
  probe,
  reasonOf,
  opened,
  closed,
  longestFailingPauseMs = probeEveryMs,
}: FleetBreakerPorts): FleetBreaker {
  /** The latest last. */
  let moment: { readonly at: number; readonly took: number }[] = []
  // Nothing waits for the first connection.
  let why: string | undefined = notYet
  let good = goodProbes - 1
  let pauseMs = probeEveryMs
  let closedAt = Number.NEGATIVE_INFINITY
  let stop: (() => void) | undefined
  let isEnded = false
  let isLooking = false
  /** Probes that failed since the last good one. */
  let failures = 0

  function medianOf(): number | undefined {
    const since = clock.now() - momentMs
    moment = moment.filter(({ at }) => at >= since).slice(-momentCommands)
    const sorted = moment.map(({ took }) => took).sort((one, other) => one - other)
    return sorted[Math.floor(sorted.length / 2)]
  }

  function open(sentence: string): void {
    if (isEnded) return
    if (why === undefined || why === notYet) {
      const isSoon = clock.now() - closedAt < soonMs
      pauseMs = isSoon ? Math.min(2 * pauseMs, longestPauseMs) : probeEveryMs
      opened(sentence)
    }
    why = sentence
    good = 0
    moment = []
    again()
  }

  /** One at a time. */
  function look(): void {
    stop = undefined
    if (isLooking) return
    isLooking = true
    probe().then(
      took => {
        isLooking = false
        failures = 0
        good = took <= slowMs ? good + 1 : 0
        if (good >= goodProbes) return close()
        again()
      },
      thrown => {
        isLooking = false
        good = 0
        failures += 1
        changeReason(reasonOf(thrown))
        again()
      },
    )
  }

  /** What was silent may refuse now, and what refused may be gone. */
  function changeReason(sentence: string): void {
    if (isEnded || why === undefined || why === sentence) return
    why = sentence
    opened(sentence)
  }

  function again(): void {
    const failing = Math.min(longestFailingPauseMs, probeEveryMs * 2 ** Math.max(0, failures - 2))
    const pause = good > 0 ? probeEveryMs : Math.max(pauseMs, failing)
    if (!isEnded) stop ??= clock.after(pause, look, 'in-background')
  }

  function silent(sentence: string): void {
    const wasOpen = why !== undefined
    open(sentence)
    // What is silent again so soon after it came back has to prove itself.
    if (isEnded || wasOpen || pauseMs > probeEveryMs) return
    good = goodProbes - 1
    stop?.()
    look()
  }

  function close(): void {
    stop?.()
    stop = undefined
    why = undefined
    failures = 0
    closedAt = clock.now()
    if (!isEnded) closed()
  }

  again()
  return {
    get isOpen() {
      return why !== undefined
    },
    get why() {
      return why
    },
    get median() {
      return medianOf()
    },
    answered(took) {
      moment.push({ at: clock.now(), took })
      if (moment.length < momentCommands || why !== undefined) return
      const median = medianOf()
      if (moment.length >= momentCommands && median !== undefined && median > slowMs)
        open(`its commands take ${Math.round(median)} ms`)
    },
    failed: open,
    silent,
    connected() {
      if (why === undefined || isEnded || pauseMs > probeEveryMs) return
      stop?.()
      look()
    },
    end() {
      isEnded = true
      stop?.()
    },
  }
}
