// Memory budget for metadata answers in transit: what exceeds it waits on its connection.

export interface TextBudget {
  /** One answer that is about to be read. */
  enter(): TextShare
}

/** The share of one answer. */
export interface TextShare {
  /** Resolves when so many more bytes may be taken; undefined where that is now. */
  hold(bytes: number): Promise<void> | undefined
  /** The answer was read, or abandoned. */
  release(): void
}

interface ShareState {
  held: number
  readonly waiting: (() => void)[]
}

/**
 * The oldest answer always goes on, so that answers that wait for each other cannot deadlock; so does one of `short`
 * bytes at most, so that a slow long answer delays no small one.
 */
export function textBudget(limit: number, short: number): TextBudget {
  const shares = new Set<ShareState>()
  let held = 0

  const isOldest = (share: ShareState): boolean => shares.values().next().value === share

  function wake(): void {
    for (const share of shares) {
      if (held >= limit && !isOldest(share)) return
      for (const go of share.waiting.splice(0)) go()
    }
  }

  return {
    enter() {
      const share: ShareState = { held: 0, waiting: [] }
      shares.add(share)
      return {
        hold(bytes) {
          share.held += bytes
          held += bytes
          if (share.held <= short || held <= limit || isOldest(share) || !shares.has(share)) return undefined
          return new Promise(go => share.waiting.push(go))
        },
        release() {
          if (!shares.delete(share)) return
          held -= share.held
          for (const go of share.waiting.splice(0)) go()
          wake()
        },
      }
    },
  }
}
