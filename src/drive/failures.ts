// Why something failed, by path, for `calcfs why` and user.calcfs.error: the last few hundred failures a user met.
import { LRUCache } from 'lru-cache'
import type { Failure } from '../failure.js'
import type { Instant } from '../remote/remote.js'

/** The last failure at a path. */
export interface Met {
  readonly at: Instant
  readonly verb: string
  readonly failure: Failure
}

export interface Failures {
  note(verb: string, path: string, failure: Failure): void
  /** What failed there before is done well now. */
  forget(path: string, before: Instant): void
  /** One line of what was tried and what the service said; undefined if nothing failed there lately. */
  why(path: string): string | undefined
  /** The same in its parts. */
  met(path: string): Met | undefined
  readonly last: string | undefined
}

const remembered = 500
const longestLine = 1000

export function openFailures(now: () => Instant): Failures {
  const lines = new LRUCache<string, Met>({ max: remembered })
  let last: string | undefined

  return {
    note(verb, path, failure) {
      // That a name is not there is an answer, not a failure: programs ask for many.
      // Nor is it one that a program copies attributes along: it does so unasked.
      if (failure.kind === 'absent' || failure.kind === 'no-attribute' || verb === 'setxattr') return
      const met = { at: now(), verb, failure }
      lines.set(path, met)
      last = `${path}: ${lineOf(met)}`
    },
    forget(path, before) {
      if ((lines.get(path)?.at ?? before) < before) lines.delete(path)
    },
    why(path) {
      const met = lines.get(path)
      return met === undefined ? undefined : lineOf(met)
    },
    met: path => lines.get(path),
    get last() {
      return last
    },
  }
}

function lineOf({ at, verb, failure }: Met): string {
  const said = failure.said === undefined ? '' : ` — the service said: ${failure.said}`
  return `${new Date(at).toISOString()} ${verb}: ${failure.message}${said}`.slice(0, longestLine)
}
