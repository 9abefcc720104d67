// Recursive delete guard: after a sign of `rm -r` of a project, or of all reports, nothing in it is deleted for a minute.
import { Failure } from '../../failure.js'
import type { AwakeClock } from './awake-clock.js'
import type { Scope } from './lineage.js'

export interface RecursiveDeleteGuard {
  /** A removal of all that is in this scope was tried, by way of this directory; `why` says how it was recognised. */
  begin(scope: Scope, directory: string, why: string): void
  /** The file was created again: an editor was at work. */
  end(scope: Scope): void
  /** @throws Failure 'not-permitted' where one of these scopes is guarded; the minute begins again */
  refuse(path: string, scopes: readonly Scope[]): void
  /** The time for which a call below it waited for the service does not count. */
  waited(path: string, milliseconds: number): void
}

interface ActiveGuard {
  readonly directory: string
  readonly why: string
  until: number
}

/** Milliseconds after the last try for which an `rm -r` is taken to be still at it. */
const guardMs = 60_000

/** `failed` is called with each refusal, for the directory. */
export function openRecursiveDeleteGuard(
  failed: (directory: string, failure: Failure) => void,
  awake: AwakeClock,
): RecursiveDeleteGuard {
  const { now } = awake
  const guards = new Map<Scope, ActiveGuard>()

  function refusal(guard: ActiveGuard, of: { scope: Scope; path: string }): Failure {
    const failure = new Failure('not-permitted', sentence(guard, of))
    failed(guard.directory, failure)
    return failure
  }

  return {
    begin(scope, directory, why) {
      awake.watch()
      const guard = { directory, why, until: now() + guardMs }
      guards.set(scope, guard)
      refusal(guard, { scope, path: directory })
    },
    end: scope => guards.delete(scope),
    refuse(path, scopes) {
      if (guards.size === 0) return
      for (const scope of scopes) {
        const guard = guards.get(scope)
        if (guard === undefined) continue
        if (now() < guard.until) {
          awake.watch()
          guard.until = now() + guardMs
          throw refusal(guard, { scope, path })
        }
        guards.delete(scope)
      }
    },
    waited(path, milliseconds) {
      for (const guard of guards.values())
        if (path.startsWith(`${guard.directory}/`)) guard.until += milliseconds
    },
  }
}

function sentence({ directory, why }: ActiveGuard, { scope, path }: { scope: Scope; path: string }): string {
  return `${path} is not deleted: ${directory}: ${why}; ${guardHint(scope)}, or use calcfs delete PATH…`
}

function guardHint(scope: Scope): string {
  switch (scope) {
    case 'all':
      return 'wait a minute'
    case 'reports':
      return 'remove a report by itself (rm REPORT), a minute from now'
    default:
      return 'remove a calculation by itself (rm -r CALCULATION), a minute from now, and an empty project with rmdir'
  }
}
