// Text history: every text a record had here, as candidates for the merge base and as history of what was sent.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, futimesSync, openSync, readSync } from 'node:fs'
import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { asFailure, rethrow } from '../../failure.js'
import { type Instant, instant, type RecordKind } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import {
  emptyOwnFile,
  forReading,
  forWriting,
  keepNameOf,
  makeDirectoriesNow,
  makeDirectory,
  openOwnFile,
  privateFile,
  readOwnFile,
  replaceFile,
  replaceFileLightly,
  replaceFileNow,
} from '../../system/own-file.js'
import type { ProcessId } from '../../system/process.js'
import { openQuickDisk } from '../../system/quick-disk.js'
import { openKeyedQueue } from './keyed-queue.js'
import { keyName, numberIn, type RecordKey } from './record-key.js'
import { type TextUser, TextUsers } from './text-users.js'

export const textUse = z.enum([
  'shown',
  'read',
  'saved',
  'outcome',
  'sent',
  'replaced',
  'dropped',
  'discarded',
])
const isHistory = (how: TextUse) => !/^(shown|read|saved)$/.test(how)

/**
 * How a text was met. shown: the kernel was told its size. read: a program read it. saved: a program wrote it and
 * the service has it. outcome: what the service made of that, where it says it otherwise. sent: it was put on the wire, whatever became of it. replaced: the service had it just before.
 * dropped: it was not saved, and another text is written over it. discarded: it was not saved, and its user gave it up.
 */
export type TextUse = z.infer<typeof textUse>

/** When a text was last met in any way; `read` and `saved` by programs of this mount. */
export interface KnownText {
  readonly text: string
  readonly last: Instant
  readonly read: Instant | undefined
  readonly saved: Instant | undefined
  /** When it was last what the service made of a text that a program of this mount had saved. */
  readonly outcome: Instant | undefined
  /** The processes that have read or stored it since the daemon began. */
  readonly users: readonly TextUser[]
}

/** One way in which a text was met, when that was last, and the mark of the mount. */
export interface Meeting {
  readonly how: TextUse
  readonly at: Instant
  readonly mount: string
}

export interface TextHistory {
  /** Keeps the text; what was saved or sent is on disk for good when this returns. */
  remember(key: RecordKey, text: string | Uint8Array, how: TextUse, by?: ProcessId): Promise<void>
  /** Keeps what was not saved as history; answers the file in which it lies. */
  archive(key: RecordKey, bytes: Uint8Array, how?: 'dropped' | 'discarded'): Promise<string>
  /**
   * The texts that a program on this mount may have had before its eyes, the latest met first; never one that only
   * travelled. What another mount met counts only where this one never met a text of the record.
   */
  candidates(key: RecordKey): Promise<readonly KnownText[]>
  /** The ids of the records of a kind of which texts are kept. */
  numbered(kind: RecordKind): Promise<readonly string[]>
  /** The text that was saved last on this mount, under whichever name of the record. */
  lastSaved(key: RecordKey): Promise<string | undefined>
  /** What this mount has sent since the last text that is known to be stored, the latest first. */
  unsettled(key: RecordKey): Promise<readonly string[]>
  /** The text with this hash, if it is still known. */
  recall(key: RecordKey, hash: string): Promise<string | undefined>
  /** Every text that is kept of a record by any mount: how it was met, by its hash. */
  meetings(key: RecordKey): Promise<ReadonlyMap<string, readonly Meeting[]>>
  /** Forgets what is older than its days. */
  purge(): Promise<void>
  /** Resolves when everything that was asked to be remembered is, or has failed. */
  settled(): Promise<void>
}

export interface TextHistoryOptions {
  /** Private to one service and user. */
  readonly stateDirectory: string
  /** What tells this mount from others on the same state directory, and is the same after a remount. */
  readonly mount: string
  readonly now: () => Instant
  /** How long a text is kept that was shown or saved, in days. */
  readonly days?: number
  /** Kept over remounts; without it a date that is set back between two mounts turns what was met last into what was met first. */
  readonly latest?: Latest
}

/** When a text was met last, by any mount. */
export interface Latest {
  get(): Instant | undefined
  set(at: Instant): void
}

/** Each save that fails leaves three texts at most: as it was written, in the record's form, and as it was sent. */
const unsettledAtMost = 9
const dayMilliseconds = 24 * 60 * 60 * 1000
/** What was sent is the only trace of an edit that a later one has replaced: it stays longer. */
const daysOfHistory = 90

/** The name of a text: SHA-256 of its UTF-8 bytes, in hex. */
export function textHash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

// A text is a file named by its hash; each meeting is an empty file `<hash>.<how>.<mount>` whose mtime is the time.
// So two mounts can write at once, and no crash can damage more than the last meeting.
const markForm = /^([0-9a-f]{64})\.([a-z]+)\.([0-9a-f]{8})$/

interface Mark extends Meeting {
  readonly hash: string
  readonly own: boolean
}

/** How a mount is named in the marks of its texts. */
export const mountMark = (mount: string): string => textHash(mount).slice(0, 8)

/** The memory of one mount; it makes its directory when the first text comes. */
export function openTextHistory(options: TextHistoryOptions): TextHistory {
  const root = join(options.stateDirectory, 'texts')
  const own = mountMark(options.mount)
  const tick = strictlyGrowing(options.now, options.latest)
  const disk = openQuickDisk()
  /** Directories whose names are known to survive a power cut. */
  const lasting = new Set<string>()
  const users = new TextUsers()
  const directoryOf = (key: RecordKey) => join(root, keyName(key))

  async function remember(
    key: RecordKey,
    text: string | Uint8Array,
    how: TextUse,
    by?: ProcessId,
  ): Promise<void> {
    const directory = directoryOf(key)
    const hash = textHash(text)
    const mark = { name: `${hash}.${how}.${own}`, at: tick() }
    if (how !== 'shown') users.note(`${keyName(key)} ${hash}`, { how, at: mark.at, by })
    const isLight = how === 'shown' || how === 'read'
    if (isLight && disk.now(() => rememberNow({ directory, hash }, text, mark)) !== undefined) return
    await makeDirectory(directory).catch(rethrow)
    if (!isLight && !lasting.has(directory)) await keepNameOf(directory)
    if (!isLight) lasting.add(directory)
    await setMark(join(directory, mark.name), mark.at)
    if (!isLight) await replaceFile(join(directory, hash), text).catch(rethrow)
    else if (!(await isIntact(join(directory, hash), hash)))
      await replaceFileLightly(join(directory, hash), text).catch(rethrow)
  }

  function marksOf(key: RecordKey): Promise<readonly Mark[]> {
    return marksIn(directoryOf(key), own)
  }

  async function candidates(key: RecordKey): Promise<readonly KnownText[]> {
    const every = await marksOf(key)
    const outcomes = new Map(
      every.filter(mark => mark.own && mark.how === 'outcome').map(mark => [mark.hash, mark.at]),
    )
    const all = every.filter(mark => !isHistory(mark.how))
    const marks = all.some(mark => mark.own) ? all.filter(mark => mark.own) : all
    const known: KnownText[] = []
    for (const hash of new Set(marks.map(mark => mark.hash))) {
      const text = await recall(key, hash)
      const times = timesOf(marks.filter(mark => mark.hash === hash))
      if (text === undefined) continue
      const more = { outcome: outcomes.get(hash), users: users.of(`${keyName(key)} ${hash}`) }
      known.push({ text, ...times, ...more })
    }
    return known.sort((one, other) => other.last - one.last)
  }

  async function unsettled(key: RecordKey): Promise<readonly string[]> {
    const marks = (await marksOf(key)).filter(mark => mark.own)
    const timesOf = (use: TextUse) => marks.filter(({ how }) => how === use).map(({ at }) => at)
    const saved = Math.max(0, ...timesOf('saved'))
    const sent = marks.filter(({ how, at }) => how === 'sent' && at > saved)
    const latest = sent.toSorted((one, other) => other.at - one.at).slice(0, unsettledAtMost)
    const texts = await Promise.all(latest.map(({ hash }) => recall(key, hash)))
    return texts.filter(text => text !== undefined)
  }

  async function lastSaved(key: RecordKey): Promise<string | undefined> {
    const marks = await marksOf(key)
    const saved = marks.filter(mark => mark.own && mark.how === 'saved')
    const [latest] = saved.toSorted((one, other) => other.at - one.at)
    return latest && recall(key, latest.hash)
  }

  /** A damaged file is no candidate: its hash says so. */
  async function recall(key: RecordKey, hash: string): Promise<string | undefined> {
    const path = join(directoryOf(key), hash)
    const text = await readOwnFile(path).catch(rethrow)
    return text !== undefined && textHash(text) === hash ? text : undefined
  }

  async function meetings(key: RecordKey): Promise<ReadonlyMap<string, readonly Meeting[]>> {
    const found = new Map<string, Meeting[]>()
    for (const { hash, how, at, mount } of await marksOf(key))
      found.set(hash, [...(found.get(hash) ?? []), { how, at, mount }])
    return found
  }

  async function purge(): Promise<void> {
    const shown = instant(options.now() - (options.days ?? 7) * dayMilliseconds)
    const history = instant(options.now() - Math.max(options.days ?? 7, daysOfHistory) * dayMilliseconds)
    lasting.clear()
    for (const name of (await orMissing(readdir(root))) ?? []) {
      // A trial whether the place takes files, cut short by the end of its process.
      if (name.startsWith('.')) continue
      await purgeRecord(join(root, name), mark => mark.at < (isHistory(mark.how) ? history : shown))
    }
  }

  // In turn, so that a text is a candidate as soon as it was asked to be remembered.
  const inTurn = openKeyedQueue()
  const busy = new Set<Promise<void>>()
  function kept(work: Promise<void>): Promise<void> {
    busy.add(work)
    return work.finally(() => busy.delete(work))
  }
  return {
    remember: (key, text, how, by) => kept(inTurn(key, () => remember(key, text, how, by))),
    settled: async () => void (await Promise.allSettled(busy)),
    async archive(key, bytes, how = 'dropped') {
      await inTurn(key, () => remember(key, bytes, how))
      return join(directoryOf(key), textHash(bytes))
    },
    candidates: key => inTurn(key, () => candidates(key)),
    async numbered(kind) {
      const names = (await orMissing(readdir(root))) ?? []
      return names.flatMap(name => numberIn(name, kind) ?? [])
    },
    lastSaved: key => inTurn(key, () => lastSaved(key)),
    unsettled: key => inTurn(key, () => unsettled(key)),
    recall,
    meetings: key => inTurn(key, () => meetings(key)),
    purge,
  }
}

/** Two meetings never have one time, so that "after" always has an answer. */
function strictlyGrowing(now: () => Instant, latest: Latest | undefined): () => Instant {
  let last: number = latest?.get() ?? 0
  return () => {
    last = Math.max(now(), last + 1)
    latest?.set(instant(last))
    return instant(last)
  }
}

/** What a program only looked at: a walk meets a record a millisecond, so that this takes a few system calls. */
function rememberNow(
  { directory, hash }: { directory: string; hash: string },
  text: string | Uint8Array,
  mark: { readonly name: string; readonly at: Instant },
): void {
  try {
    makeDirectoriesNow(directory)
    const descriptor = openSync(join(directory, mark.name), forWriting, privateFile)
    try {
      futimesSync(descriptor, mark.at / 1000, mark.at / 1000)
    } finally {
      closeSync(descriptor)
    }
    if (!isWholeAt(join(directory, hash), { hash, length: Buffer.byteLength(text) }))
      replaceFileNow(join(directory, hash), text)
  } catch (cause) {
    throw asFailure(cause)
  }
}

/** A power cut may have left an empty file under this name. */
function isWholeAt(path: string, { hash, length }: { hash: string; length: number }): boolean {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, forReading)
    const found = fstatSync(descriptor)
    return found.isFile() && found.size === length && fileHash(descriptor, length) === hash
  } catch (thrown) {
    if (isMissing(thrown)) return false
    throw thrown
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The same without holding up anything else. */
async function isIntact(path: string, hash: string): Promise<boolean> {
  const file = await openOwnFile(path).catch(rethrow)
  if (file === undefined) return false
  const found = createHash('sha256')
  // The stream closes the file.
  await pipeline(file.createReadStream(), found).catch(rethrow)
  return found.digest('hex') === hash
}

/** In pieces, for a text may be long. */
function fileHash(descriptor: number, length: number): string {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(Math.min(length + 1, hashedAtOnce))
  for (;;) {
    const read = readSync(descriptor, piece)
    if (read === 0) return hash.digest('hex')
    hash.update(piece.subarray(0, read))
  }
}

const hashedAtOnce = 64 << 10

async function setMark(path: string, at: Instant): Promise<void> {
  try {
    const mark = await emptyOwnFile(path)
    try {
      await mark.utimes(at / 1000, at / 1000)
    } finally {
      await mark.close()
    }
  } catch (cause) {
    throw asFailure(cause)
  }
}

async function marksIn(directory: string, own: string): Promise<readonly Mark[]> {
  const marks: Mark[] = []
  for (const name of (await orMissing(readdir(directory))) ?? []) {
    const [, hash, how, mount] = markForm.exec(name) ?? []
    const status = hash === undefined ? undefined : await orMissing(stat(join(directory, name)))
    if (hash === undefined || mount === undefined || status === undefined) continue
    const at = instant(Math.round(status.mtimeMs))
    marks.push({ hash, how: textUse.parse(how), mount, own: mount === own, at })
  }
  return marks
}

function timesOf(marks: readonly Mark[]): Omit<KnownText, 'text' | 'outcome' | 'users'> {
  const last = (chosen: readonly Mark[]) => instant(Math.max(...chosen.map(mark => mark.at)))
  const lastAs = (how: TextUse) => {
    const chosen = marks.filter(mark => mark.own && mark.how === how)
    return chosen.length === 0 ? undefined : last(chosen)
  }
  return { last: last(marks), read: lastAs('read'), saved: lastAs('saved') }
}

async function purgeRecord(directory: string, isOld: (mark: Mark) => boolean): Promise<void> {
  const marks = await marksIn(directory, '')
  const kept = new Set(marks.filter(mark => !isOld(mark)).map(mark => mark.hash))
  for (const name of await readdir(directory)) {
    const hash = name.slice(0, 64)
    if (marks.some(mark => mark.hash === hash) && !kept.has(hash))
      await rm(join(directory, name), { force: true })
  }
  if ((await readdir(directory)).length === 0) await rmdir(directory)
}

async function orMissing<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw asFailure(thrown)
  }
}
