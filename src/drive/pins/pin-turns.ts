// Pin turns: how many requests of all pins together are under way side by side.

export interface PinTurns {
  /** Begins the work once there is room for so many requests at a time. */
  run<Result>(work: () => Promise<Result> | Result, requests?: number): Promise<Result>
}

/** Requests of pins side by side at most: the rest is for users, and for what is foreseen. */
export const sideBySideAtMost = 16

/** `room`: how many background requests may be under way now. */
export function openPinTurns(room: () => number): PinTurns {
  let under = 0
  const waiting: { readonly requests: number; readonly begin: () => void }[] = []

  /** The first one that waits begins where nothing is under way, however little room there is. */
  function beginNext(): void {
    for (;;) {
      const [first] = waiting
      if (first === undefined) return
      if (under > 0 && under + first.requests > Math.min(room(), sideBySideAtMost)) return
      waiting.shift()
      under += first.requests
      first.begin()
    }
  }

  return {
    async run(work, requests = 1) {
      await new Promise<void>(begin => {
        waiting.push({ requests, begin })
        beginNext()
      })
      try {
        return await work()
      } finally {
        under -= requests
        beginNext()
      }
    },
  }
}
