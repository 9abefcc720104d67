// Text history: every text a record had here, as candidates for the merge base and as history of what was sent.
import { createHash } from 'node:crypto'
import { closeSync, futimesSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { asFailure, rethrow } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { RecentMap } from '../../recent-map.js'
import { type Instant, instant, type RecordKind } from '../../remote/remote.js'
import {
  forWriting,
  makeDirectoriesNow,
  namesIn,
  placeFiles,
  privateFile,
  readOwnFileNow,
  replaceFileNow,
  syncDirectory,
} from '../../system/own-file.js'
import type { ProcessId } from '../../system/process.js'
import { Turns } from './lock.js'
import { keyName, numberIn, type RecordKey } from './record-key.js'
import {
  byHash,
  isHistory,
  lastOf,
  type Mark,
  type Meeting,
  markAt,
  ownTimes,
  type TextUse,
  type TextUser,
  TextUsers,
  unsettledIn,
} from './text-marks.js'

/** When a text was last met in any way; `read` and `saved` by programs of this mount. */
export interface KnownText {
  readonly text: string
  readonly last: Instant
  readonly read: Instant | undefined
  readonly saved: Instant | undefined
  /** When it was last what the service made of a text that a program of this mount had saved. */
  readonly outcome: Instant | undefined
  /** When it was last an unsaved text that another one was written over. */
  readonly dropped: Instant | undefined
  /** The processes that have read or stored it since the daemon began. */
  readonly users: readonly TextUser[]
}

export interface MetText {
  readonly text: string | Uint8Array
  readonly how: TextUse
  readonly by?: ProcessId | undefined
}

export interface TextHistoryOptions {
  /** Private to one service and user. */
  readonly stateDirectory: string
  /** Tells this mount from others of the state directory; the same after a remount. */
  readonly mount: string
  readonly now: () => Instant
  /** Kept over remounts; without it a date that is set back between two mounts turns what was met last into what was met first. */
  readonly notes?: {
    get(namespace: string, key: string): string | undefined
    set(namespace: string, key: string, value: string): void
  }
}

/** Where the time of the latest meeting is noted. */
const latest = ['texts', 'met last'] as const

export const dayMilliseconds = 24 * 60 * 60 * 1000
const daysOfBase = 7
/** A sent text is the only trace of an edit that a later one has replaced: it stays longer. */
const daysOfHistory = 90

/** The name of a text: SHA-256 of its UTF-8 bytes, in hex. */
export function textHash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}

/** How a mount is named in the marks of its texts. */
export const mountMark = (mount: string): string => textHash(mount).slice(0, 8)

/** Records whose marks are held: some hundred each, where a record is saved often. */
const recordsAtMost = 64
const pathsAtMost = 1_000
/** So many names of a directory are looked at, or so many texts read, before others have a turn. */
const atOnce = 64
const longText = 1 << 20

/**
 * The memory of one mount; it makes its directory when the first text comes. Its small files are read and written at once; only
 * the wait for the disk leaves this thread.
 */
export class TextHistory {
  readonly #options: TextHistoryOptions
  readonly #root: string
  readonly #own: string
  readonly #users = new TextUsers()
  /** In turn, so that a text is a candidate as soon as it was asked to be remembered. */
  readonly #turns = new Turns()
  /** Directories whose names, and files whose bytes, are known to survive a power cut; another is written once more. */
  readonly #lasting = new RecentMap<string, true>(pathsAtMost)
  /** The marks of this mount, which no other process sets, of the records that were saved or read last. */
  readonly #marks = new LRUCache<string, Map<string, Mark>>({ max: recordsAtMost })
  /** A save looks at every known text of its record. */
  readonly #texts = new LRUCache<string, { readonly file: string; readonly text: string }>({
    maxSize: 1 << 20,
    sizeCalculation: ({ text }, path) => text.length + 4 * path.length,
  })
  #last: number

  constructor(options: TextHistoryOptions) {
    this.#options = options
    this.#root = join(options.stateDirectory, 'texts')
    this.#own = mountMark(options.mount)
    // A damaged time counts as none.
    this.#last = Number.parseInt(options.notes?.get(...latest) ?? '', 10) || 0
  }

  /** Keeps the text; what was saved or sent is on disk for good when this returns. */
  remember(key: RecordKey, text: string | Uint8Array, how: TextUse, by?: ProcessId): MaybePromise<void> {
    return this.rememberAll(key, [{ text, how, by }])
  }

  rememberAll(key: RecordKey, texts: readonly MetText[]): MaybePromise<void> {
    const record = keyName(key)
    return this.#turns.take(record, () => this.#keep(record, texts))
  }

  fileOf(key: RecordKey, text: Uint8Array): string {
    return join(this.#root, keyName(key), textHash(text))
  }

  /**
   * The candidates are texts that a program on this mount may have had before its eyes, the latest met first; never one that only
   * travelled. What another mount met counts only where this one never met a text of the record. Unsettled are those that
   * this mount has sent since the last text that is known to be stored, the latest first.
   */
  known(key: RecordKey) {
    const record = keyName(key)
    return this.#turns.take(record, async () => {
      const directory = join(this.#root, record)
      const every = await this.#marksIn(directory)
      return {
        candidates: await this.#candidates(record, every),
        unsettled: unsettledIn(every).flatMap(hash => this.#textAt(directory, hash) ?? []),
      }
    })
  }

  async #candidates(record: string, every: readonly Mark[]): Promise<readonly KnownText[]> {
    const all = every.filter(mark => !isHistory(mark.how))
    const own = all.filter(mark => mark.own)
    const uses = byHash(every)
    const known: KnownText[] = []
    for (const [hash, its] of byHash(own.length > 0 ? own : all)) {
      const text = this.#textAt(join(this.#root, record), hash)
      if (text === undefined) continue
      const users = this.#users.of(`${record} ${hash}`)
      const { read, saved, outcome, dropped } = ownTimes(uses.get(hash) ?? [])
      known.push({ text, last: lastOf(its), read, saved, outcome, dropped, users })
      if (known.length % atOnce === 0) await setImmediate()
    }
    return known.sort((one, other) => other.last - one.last)
  }

  numbered(kind: RecordKind): readonly string[] {
    return namesIn(this.#root).flatMap(name => numberIn(name, kind) ?? [])
  }

  recall(key: RecordKey, hash: string): string | undefined {
    return this.#textAt(join(this.#root, keyName(key)), hash)
  }

  /** Every text that is kept of a record by any mount: how it was met, by its hash. */
  meetings(key: RecordKey): Promise<ReadonlyMap<string, readonly Meeting[]>> {
    const record = keyName(key)
    return this.#turns.take(record, async () => byHash(await this.#marksIn(join(this.#root, record))))
  }

  /** Later than at the start a program may have a file open whose text it read long ago: that stays a base. */
  async purge(when: 'at the start' | 'later'): Promise<void> {
    const now = this.#options.now()
    const isKept = (how: TextUse): boolean => when === 'later' || isHistory(how)
    const isOld = ({ how, at }: Mark) =>
      at < now - (isKept(how) ? daysOfHistory : daysOfBase) * dayMilliseconds
    this.#lasting.clear()
    for (const name of namesIn(this.#root)) {
      // A trial whether the place takes files, cut short by the end of its process.
      if (!name.startsWith('.'))
        await this.#turns.take(name, () => this.#purgeRecord(join(this.#root, name), isOld))
      // The drive answers meanwhile.
      await setImmediate()
    }
  }

  /** Resolves when everything that was asked to be remembered is, or has failed. */
  settled(): Promise<void> {
    return this.#turns.settled()
  }

  /** A damaged file is no text: its hash says so. A text that was read stays known while its file is the same. */
  #textAt(directory: string, hash: string): string | undefined {
    const path = join(directory, hash)
    try {
      const status = statSync(path, { throwIfNoEntry: false })
      if (status === undefined) return undefined
      const file = `${status.ino} ${status.size} ${status.mtimeMs}`
      const known = this.#texts.get(path)
      if (known?.file === file) return known.text
      const bytes = bytesAt(path)
      if (bytes === undefined || textHash(bytes) !== hash) return undefined
      const text = bytes.toString()
      this.#texts.set(path, { file, text })
      return text
    } catch (thrown) {
      throw asFailure(thrown)
    }
  }

  #keep(record: string, texts: readonly MetText[]): MaybePromise<void> {
    // Not while what made a long text still lies in memory beside it.
    if (texts.some(({ text }) => text.length > longText))
      return setImmediate().then(() => this.#keepNow(record, texts))
    return this.#keepNow(record, texts)
  }

  /** What was only shown or read waits for no disk. */
  #keepNow(record: string, texts: readonly MetText[]): MaybePromise<void> {
    const directory = join(this.#root, record)
    const isLight = texts.every(({ how }) => how === 'shown' || how === 'read')
    const lasting = new Map<string, string | Uint8Array>()
    try {
      const made = makeDirectoriesNow(directory)
      for (const { text, how, by } of texts) {
        const hash = textHash(text)
        const path = join(directory, hash)
        const at = this.#tick()
        if (how !== 'shown') this.#users.note(`${record} ${hash}`, { how, at, by })
        const mark = `${hash}.${how}.${this.#own}`
        setMark(join(directory, mark), at)
        this.#marks.get(directory)?.set(mark, { hash, how, mount: this.#own, own: true, at })
        // A power cut may have left an empty file under this name.
        const found = bytesAt(path)
        const isThere = found !== undefined && textHash(found) === hash
        if (isLight) isThere || replaceFileNow(path, text)
        else if (!isThere || !this.#lasting.has(path)) lasting.set(path, text)
      }
      this.#options.notes?.set(...latest, String(this.#last))
      return isLight ? undefined : this.#makeLasting(directory, lasting, made).catch(rethrow)
    } catch (thrown) {
      throw asFailure(thrown)
    }
  }

  /** On disk for good, with the names of the directories that were made or are not known to last. */
  async #makeLasting(
    directory: string,
    texts: ReadonlyMap<string, string | Uint8Array>,
    made: string | undefined,
  ): Promise<void> {
    if (made !== undefined || !this.#lasting.has(directory)) {
      const first = made !== undefined && made.length < this.#root.length ? made : this.#root
      for (let at = directory; at.length >= first.length; at = dirname(at)) await syncDirectory(dirname(at))
    }
    await placeFiles(texts)
    await syncDirectory(directory)
    for (const path of [directory, ...texts.keys()]) this.#lasting.set(path, true)
  }

  /** Two meetings never have one time, so that "after" always has an answer. */
  #tick(): Instant {
    this.#last = Math.max(this.#options.now(), this.#last + 1)
    return instant(this.#last)
  }

  async #marksIn(directory: string): Promise<readonly Mark[]> {
    const marks: Mark[] = []
    const own = this.#marks.get(directory) ?? new Map<string, Mark>()
    this.#marks.set(directory, own)
    for (const [place, name] of namesIn(directory).entries()) {
      if (place % atOnce === atOnce - 1) await setImmediate()
      const mark = own.get(name) ?? markAt(directory, name, this.#own)
      if (mark === undefined) continue
      marks.push(mark)
      if (mark.own) own.set(name, mark)
    }
    return marks
  }

  async #purgeRecord(directory: string, isOld: (mark: Mark) => boolean): Promise<void> {
    const marks = await this.#marksIn(directory)
    const kept = new Set(marks.filter(mark => !isOld(mark)).map(mark => mark.hash))
    const known = new Set(marks.map(mark => mark.hash))
    const gone = namesIn(directory).filter(
      name => known.has(name.slice(0, 64)) && !kept.has(name.slice(0, 64)),
    )
    for (const name of gone) rmSync(join(directory, name), { force: true })
    if (namesIn(directory).length === 0) rmdirSync(directory)
  }
}

function setMark(path: string, at: Instant): void {
  const descriptor = openSync(path, forWriting, privateFile)
  try {
    futimesSync(descriptor, at / 1000, at / 1000)
  } finally {
    closeSync(descriptor)
  }
}

const bytesAt = (path: string): Buffer | undefined =>
  readOwnFileNow(path, descriptor => readFileSync(descriptor))
