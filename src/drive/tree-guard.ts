// `rm -r` of a project, or of all reports, is refused: it begins with the directory's own files, and then nothing below goes for a while.
import { Failure } from '../failure.js'
import type { Instant } from '../remote/remote.js'

export interface TreeGuard {
  /** Somebody has tried to remove a directory's own file. */
  begin(directory: string): void
  /** The file was made anew: an editor was at work. */
  end(directory: string): void
  /** @throws Failure 'not-permitted' below a directory that somebody seems to be deleting */
  refuse(path: string): void
  /** The time for which a call below it waited for the service does not count. */
  waited(path: string, milliseconds: number): void
}

/** Milliseconds after the last try for which an `rm -r` is taken to be still at it. */
const guardMs = 60_000

/** `failed` is told of each refusal, by the directory. */
export function openTreeGuard(
  failed: (directory: string, failure: Failure) => void,
  now: () => Instant,
): TreeGuard {
  const guards = new Map<string, number>()
  const below = (path: string): string[] =>
    guards.size === 0 ? [] : [...guards.keys()].filter(directory => path.startsWith(`${directory}/`))

  return {
    begin: directory => guards.set(directory, now() + guardMs),
    end: directory => guards.delete(directory),
    refuse(path) {
      for (const directory of below(path)) {
        if (now() < (guards.get(directory) ?? 0)) {
          guards.set(directory, now() + guardMs)
          const failure = new Failure('not-permitted', sentence(directory, path))
          failed(directory, failure)
          throw failure
        }
        guards.delete(directory)
      }
    },
    waited(path, milliseconds) {
      for (const directory of below(path)) guards.set(directory, (guards.get(directory) ?? 0) + milliseconds)
    },
  }
}

function sentence(directory: string, path: string): string {
  const what = directory === '/reports' ? 'the reports are' : 'a project is'
  const way =
    directory === '/reports'
      ? 'take them away one by one, a minute from now'
      : 'take its calculations away one by one (rm -r CALCULATION), a minute from now, then rmdir the empty project'
  return `${what} not deleted with all that is in it: ${path} stays; ${way}`
}
