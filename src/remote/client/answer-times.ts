// Answer times: what the recent ones say of the service, and when a silence is unusual.

export interface AnswerTimes {
  /** A response head came after so many milliseconds. */
  note(milliseconds: number): void
  /** Milliseconds that an answer usually takes; 0 before the first one. */
  readonly median: number
  /** Milliseconds after which a silence is unusual. */
  readonly patience: number
}

const remembered = 31
/** A silence is unusual after four times the median, and never sooner than after this. */
const patienceTimes = 4
const patienceAtLeast = 1_000

export function openAnswerTimes(): AnswerTimes {
  const times: number[] = []
  let median = 0
  return {
    note(milliseconds) {
      times.push(milliseconds)
      if (times.length > remembered) times.shift()
      median = times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0
    },
    get median() {
      return median
    },
    get patience() {
      return Math.max(patienceAtLeast, patienceTimes * median)
    },
  }
}
