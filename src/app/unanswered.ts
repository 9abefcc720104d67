// Unanswered changes, kept in the state directory, so that other mounts and the next one wait for them, too.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { textHash } from '../edit/journal/text-history.js'
import type { UnansweredChanges } from '../remote/client/late-answer.js'
import { type Instant, instant } from '../remote/remote.js'
import { isMissing } from '../system/error-code.js'
import { makeDirectoriesNow, replaceFileNow } from '../system/own-file.js'

/** One small file for each change; a disk error is reported by `note`, and stops nothing. */
export function openUnanswered(
  stateDirectory: string,
  { now, note }: { now: () => Instant; note: (happened: unknown) => void },
): UnansweredChanges {
  const directory = join(stateDirectory, 'unanswered')
  const fileOf = (subject: string): string => join(directory, textHash(subject).slice(0, 32))

  function noting<Found>(act: () => Found): Found | undefined {
    try {
      return act()
    } catch (thrown) {
      if (!isMissing(thrown)) note(thrown)
      return undefined
    }
  }

  const read = (subject: string): string | undefined => noting(() => readFileSync(fileOf(subject), 'utf8'))
  const write = (subject: string, text: string): void =>
    noting(() => {
      makeDirectoriesNow(directory)
      replaceFileNow(fileOf(subject), text)
    })

  noting(() => {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      if (now() - statSync(path).mtimeMs > sweptAfterMs) rmSync(path, { force: true })
    }
  })
  return {
    until(subject) {
      const text = read(subject)
      if (text === undefined) return undefined
      const kept = Number(text)
      if (kept > now()) return instant(kept)
      // Abandoned by another process, or by the previous one.
      if (!Number.isNaN(kept)) write(subject, endedAt(instant(kept)))
      return undefined
    },
    note: (subject, until) => write(subject, String(until)),
    answered: subject => write(subject, endedAt(now())),
    ended(subject) {
      const [, at] = /^ended (\d+)$/.exec(read(subject) ?? '') ?? []
      return at === undefined ? undefined : instant(Number(at))
    },
  }
}

const endedAt = (at: Instant): string => `ended ${Math.round(at)}`

/** Milliseconds: no change is based on so old a read. */
const sweptAfterMs = 60 * 60_000
