// Failure log by path, for `calcfs why` and user.calcfs.error: the last few hundred failures a user's program met.
import { LRUCache } from 'lru-cache'
import { type Failure, isA, withoutFrames } from '../failure.js'
import { parentOf } from '../layout.js'
import type { Instant } from '../remote/remote.js'
import type { Node } from './nodes/node.js'

export interface LoggedFailure {
  readonly at: Instant
  readonly verb: string
  readonly failure: Failure
}

export interface FailureAt {
  readonly path: string
  readonly met: LoggedFailure
}

const remembered = 500
/** The failures that are over once a program has listed the directory, or read from the file. */
const endedBy = {
  readdir: new Set(['lookup', 'getattr', 'opendir', 'readdir']),
  read: new Set(['lookup', 'getattr', 'open', 'read']),
} as const satisfies Record<string, ReadonlySet<string>>
export const removalVerbs: ReadonlySet<string> = new Set(['unlink', 'rmdir', 'deleting', 'removing'])
const unnamed: ReadonlySet<string> = new Set(['unlink', 'rmdir'])
const longestLine = 1000
const toldForMs = 600_000

export function openFailureLog(now: () => Instant) {
  const lines = new LRUCache<string, LoggedFailure>({ max: remembered })
  const settledAt = new LRUCache<string, Instant>({ max: remembered })
  let last: string | undefined

  /** The failure there, unless it is over; `key` is the node's, where the path leads to one. */
  function met(path: string, key: string | undefined): LoggedFailure | undefined {
    const found = lines.get(path)
    const over = key === undefined ? undefined : settledAt.get(key)
    return found !== undefined && over !== undefined && found.at <= over ? undefined : found
  }

  function latest(isMeant: (path: string, met: LoggedFailure) => boolean): FailureAt | undefined {
    const all = [...lines.entries()].filter(([path, met]) => now() - met.at < toldForMs && isMeant(path, met))
    const [found] = all.toSorted(([, one], [, other]) => other.at - one.at)
    return found && { path: found[0], met: found[1] }
  }

  return {
    note(verb: string, path: string, failure: Failure): void {
      // That a name is not there is an answer, not a failure: programs ask for many, and copy attributes along unasked.
      // Nor is it that a removal was called off, or that a size has changed: the kernel repeats the call.
      if (isA('everyday', failure) || verb === 'setxattr') return
      const met = { at: now(), verb, failure: withoutFrames(failure) }
      lines.set(path, met)
      last = `${path}: ${failureLine(met)}`
    },
    /** Clears the failures there: the call ended well now. */
    forget(path: string, before: Instant): void {
      if ((lines.get(path)?.at ?? before) <= before) lines.delete(path)
    },
    /** It is deleted, with all that is below it: nothing that failed there is told any more. */
    gone(path: string): void {
      for (const at of [...lines.keys()]) if (at === path || at.startsWith(`${path}/`)) lines.delete(at)
    },
    /** This way of looking succeeded there: a failure to look is over, one to save is not. */
    over(path: string, verb: 'readdir' | 'read'): void {
      const before = lines.peek(path)
      if (before !== undefined && endedBy[verb].has(before.verb)) lines.delete(path)
    },
    /** A text of this record was saved or given up by a command: what failed before is over, by whatever path it was met. */
    settled(key: string): void {
      settledAt.set(key, now())
    },
    /** One line of what was tried and what the service said; undefined if nothing failed there lately. */
    why(path: string, key: string): string | undefined {
      const found = met(path, key)
      return found === undefined ? undefined : failureLine(found)
    },
    met,
    /** A refusal of which a program leaves its user to guess the name: of a file beside another, or of a removal below (`rm -r`). */
    refusedInside: (directory: string, kind?: Node['kind']): FailureAt | undefined =>
      latest((path, { verb }) =>
        unnamed.has(verb)
          ? (kind === 'calculation' || kind === 'project') && path.startsWith(`${directory}/`)
          : verb === 'create' && parentOf(path) === directory,
      ),
    get last(): string | undefined {
      return last
    },
    /** The paths that were removed in the last ten minutes and are there again. */
    removedInVain: (): readonly string[] =>
      [...lines.entries()].flatMap(([path, { verb, at }]) =>
        verb === 'removing' && now() - at < toldForMs ? [path] : [],
      ),
  }
}

export type FailureLog = ReturnType<typeof openFailureLog>

function failureLine({ at, verb, failure }: LoggedFailure): string {
  const said = failure.said === undefined ? '' : ` — the service said: ${failure.said}`
  return `${new Date(at).toISOString()} ${verb}: ${failure.message}${said}`.slice(0, longestLine)
}
