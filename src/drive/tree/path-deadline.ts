// Path deadline: the kernel looks up one component after another, and each continues with the time that the one before has left.

import { parentOf } from '../../layout.js'
import { dueIn } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'

export interface PathDeadlines {
  /** For a lookup of this path: the time of the walk that it goes on with, or of a new one. */
  context(path: string): RequestContext
  /** A lookup that had to wait is answered. */
  answered(path: string, context: RequestContext): void
  /** Something else was done at this path: what follows is another call's. */
  end(path: string): void
}

/**
 * Milliseconds within which the kernel asks for the next component. It does not tell which call a lookup belongs to: a call
 * that begins so soon below a folder that another one has just waited for shares that one's time.
 */
const nextWithinMs = 100
/** So many may lie about before those that are over are swept out. */
const sweepAt = 256

export function openPathDeadlines(deadlineMs: number, now: () => Instant): PathDeadlines {
  const walks = new Map<string, { readonly deadline: Instant; readonly at: Instant }>()

  function goOn(path: string, deadline: Instant): void {
    const at = now()
    if (walks.size >= sweepAt)
      for (const [other, walk] of walks) if (at - walk.at > nextWithinMs) walks.delete(other)
    walks.set(path, { deadline, at })
  }

  return {
    context(path) {
      const began = now()
      const before = walks.size === 0 ? undefined : walks.get(parentOf(path))
      if (before === undefined || began - before.at > nextWithinMs)
        return dueIn(deadlineMs, { now: () => began })
      // What is known is answered without waiting, and is a step of the walk all the same.
      goOn(path, before.deadline)
      return { deadline: before.deadline, priority: 'user' }
    },
    answered: (path, { deadline }) => goOn(path, deadline),
    end: path => void walks.delete(path),
  }
}
