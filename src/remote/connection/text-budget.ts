// How many bytes of metadata answers may be in memory on their way: what is over waits on its connection.

export interface TextBudget {
  /** One answer that is about to be read. */
  enter(): TextShare
}

/** The share of one answer. */
export interface TextShare {
  /** Resolves when so many more bytes may be taken; undefined where that is now. */
  hold(bytes: number): Promise<void> | undefined
  /** The answer was read, or given up. */
  release(): void
}

interface ShareState {
  held: number
  readonly waiting: (() => void)[]
}

/**
 * The oldest answer always goes on, so that those who wait for each other's end do not wait for ever; and so does one of
 * `short` bytes at most, so that a long one which drips holds up no small one.
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
