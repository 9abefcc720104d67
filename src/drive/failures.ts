// Why something failed, by path, for `calcfs why` and user.calcfs.error: the last few hundred failures a user met.
import { LRUCache } from 'lru-cache'
import type { Failure } from '../failure.js'
import type { Instant } from '../remote/remote.js'

export interface Failures {
  note(verb: string, path: string, failure: Failure): void
  /** One line of what was tried and what the service said; undefined if nothing failed there lately. */
  why(path: string): string | undefined
  readonly last: string | undefined
}

const remembered = 500
const longestLine = 1000

export function openFailures(now: () => Instant): Failures {
  const lines = new LRUCache<string, string>({ max: remembered })
  let last: string | undefined

  return {
    note(verb, path, failure) {
      // That a name is not there is an answer, not a failure: programs ask for many.
      if (failure.kind === 'absent' || failure.kind === 'no-attribute') return
      const said = failure.said === undefined ? '' : ` — the service said: ${failure.said}`
      const line = `${new Date(now()).toISOString()} ${verb}: ${failure.message}${said}`.slice(0, longestLine)
      lines.set(path, line)
      last = `${path}: ${line}`
    },
    why: path => lines.get(path),
    get last() {
      return last
    },
  }
}
