// Which changes were sent and never answered: kept in the state directory, so that the next mount waits for them, too.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFileNow } from '../edit/journal/atomic-file.js'
import { textHash } from '../edit/journal/text-history.js'
import type { UnansweredChanges } from '../remote/pipeline/late-writes.js'
import { type Instant, instant } from '../remote/remote.js'
import { isMissing } from '../system/error-code.js'
import { makeDirectoriesNow } from '../system/make-directory.js'
import { clearPlace } from '../system/set-aside.js'

/** One small file for each change; a disk that takes none is told by `note`, and stops nothing. */
export function openUnanswered(
  stateDirectory: string,
  { now, note }: { now: () => Instant; note: (happened: unknown) => void },
): UnansweredChanges {
  const directory = join(stateDirectory, 'unanswered')
  const fileOf = (subject: string): string => join(directory, textHash(subject).slice(0, 32))

  function noting(act: () => void): void {
    try {
      act()
    } catch (thrown) {
      note(thrown)
    }
  }

  function read(subject: string): Instant | undefined {
    try {
      clearPlace(directory, 'directory')
      clearPlace(fileOf(subject), 'file')
      return instant(Number(readFileSync(fileOf(subject), 'utf8')))
    } catch (thrown) {
      if (!isMissing(thrown)) note(thrown)
      return undefined
    }
  }

  const remove = (subject: string): void => noting(() => rmSync(fileOf(subject), { force: true }))

  return {
    until(subject) {
      const kept = read(subject)
      if (kept === undefined || kept > now()) return kept
      remove(subject)
      return undefined
    },
    note: (subject, until) =>
      noting(() => {
        clearPlace(directory, 'directory')
        makeDirectoriesNow(directory)
        replaceFileNow(fileOf(subject), String(until))
      }),
    answered: remove,
  }
}
