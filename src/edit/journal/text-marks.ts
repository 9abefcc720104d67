// Marks of texts: how, when and by which mount and process each text of a record was met.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { type Instant, instant } from '../../remote/remote.js'
import type { ProcessId } from '../../system/process.js'

const textUse = z.enum(['shown', 'read', 'saved', 'outcome', 'sent', 'replaced', 'dropped', 'discarded'])
export const isHistory = (how: TextUse) => !/^(shown|read|saved)$/.test(how)

/**
 * How a text was met. shown: the kernel was told its size. read: a program read it. saved: a program wrote it and
 * the service has it. outcome: what the service made of that, where it says it otherwise. sent: it was put on the wire, whatever became of it. replaced: the service had it just before.
 * dropped: it was not saved, and another text is written over it. discarded: it was not saved, and its user gave it up.
 */
export type TextUse = z.infer<typeof textUse>

/** One way in which a text was met, when that was last, and the mark of the mount. */
export interface Meeting {
  readonly how: TextUse
  readonly at: Instant
  readonly mount: string
}

export interface Mark extends Meeting {
  readonly hash: string
  readonly own: boolean
}

// A text is a file named by its hash; each meeting is an empty file `<hash>.<how>.<mount>` whose mtime is the time.
// So two mounts can write at once, and no crash can damage more than the last meeting.
const markForm = /^([0-9a-f]{64})\.([a-z]+)\.([0-9a-f]{8})$/

export function markAt(directory: string, name: string, ownMount: string): Mark | undefined {
  const [, hash, how, mount] = markForm.exec(name) ?? []
  if (hash === undefined || mount === undefined) return undefined
  const status = statSync(join(directory, name), { throwIfNoEntry: false })
  if (status === undefined) return undefined
  const at = instant(Math.round(status.mtimeMs))
  return { hash, how: textUse.parse(how), mount, own: mount === ownMount, at }
}

export function byHash(marks: readonly Mark[]): ReadonlyMap<string, readonly Mark[]> {
  const found = new Map<string, Mark[]>()
  for (const mark of marks) {
    const its = found.get(mark.hash)
    if (its === undefined) found.set(mark.hash, [mark])
    else its.push(mark)
  }
  return found
}

/** Each save that fails leaves three texts at most: as it was written, in the record's form, and as it was sent. */
const unsettledAtMost = 9

/** The hashes of what this mount has sent since the last text that is known to be stored, the latest first. */
export function unsettledIn(marks: readonly Mark[]): readonly string[] {
  const { saved = 0 } = ownTimes(marks)
  const sent = marks.filter(({ own, how, at }) => own && how === 'sent' && at > saved)
  const latest = sent.sort((one, other) => other.at - one.at).slice(0, unsettledAtMost)
  return latest.map(({ hash }) => hash)
}

export const lastOf = (marks: readonly Mark[]): Instant => instant(Math.max(...marks.map(mark => mark.at)))

/** When this mount has met the text of these marks last in each way. */
export function ownTimes(marks: readonly Mark[]): Readonly<Partial<Record<TextUse, Instant>>> {
  const last: Partial<Record<TextUse, Instant>> = {}
  for (const { own, how, at } of marks)
    if (own && at > (last[how] ?? Number.NEGATIVE_INFINITY)) last[how] = at
  return last
}

export interface TextUser {
  readonly process: ProcessId
  readonly read?: Instant | undefined
  readonly saved?: Instant | undefined
  readonly sent?: Instant | undefined
}

const textsAtMost = 4_000
const usersAtMost = 64

export class TextUsers {
  readonly #users = new LRUCache<string, Map<string, TextUser>>({ max: textsAtMost })

  of(text: string): readonly TextUser[] {
    return [...(this.#users.get(text)?.values() ?? [])]
  }

  note(text: string, { how, at, by }: Pick<Mark, 'how' | 'at'> & { by: ProcessId | undefined }): void {
    const known = this.#users.get(text) ?? new Map<string, TextUser>()
    if (by !== undefined) {
      const name = `${by.group} ${by.view}`
      const before = known.get(name)
      known.delete(name)
      known.set(name, { ...before, process: by, [how]: at })
      const [oldest] = known.keys()
      if (known.size > usersAtMost && oldest !== undefined) known.delete(oldest)
      this.#users.set(text, known)
    }
    // A text of which it was not known whether it is stored is its sender's once it turns out to be.
    if (how === 'saved' && by === undefined)
      for (const [name, user] of known) if (user.sent !== undefined) known.set(name, { ...user, saved: at })
  }
}
