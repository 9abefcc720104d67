// Text history: every text a record had here, as candidates for the merge base and as history of what was sent.
import { createHash } from 'node:crypto'
import {
  closeSync,
  futimesSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { asFailure } from '../../failure.js'
import { type Instant, instant, type RecordKind } from '../../remote/remote.js'
import {
  forWriting,
  makeDirectoriesNow,
  makeDirectory,
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

/** A text, how it was met, and by which process. */
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
const daysOfBase = 7
/** A sent text is the only trace of an edit that a later one has replaced: it stays longer. */
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

/** Records whose marks are held: some hundred each, where a record is saved often. */
const recordsAtMost = 64
/** So many names of a directory are looked at, or so many texts read, before others have a turn. */
const atOnce = 64
/** In bytes. */
const hashedAtOnce = 64 << 10
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
  /** Directories whose names, and files whose bytes, are known to survive a power cut. */
  readonly #lasting = new Set<string>()
  /** The marks of this mount, which no other process sets, of the records that were saved or read last. */
  readonly #marks = new LRUCache<string, Map<string, Mark>>({ max: recordsAtMost })
  /** A save looks at every known text of its record. */
  readonly #texts = new LRUCache<string, { readonly file: string; readonly text: string }>({
    maxSize: 1 << 20,
    sizeCalculation: ({ text }) => text.length + 1,
  })
  #last: number

  constructor(options: TextHistoryOptions) {
    this.#options = options
    this.#root = join(options.stateDirectory, 'texts')
    this.#own = mountMark(options.mount)
    this.#last = options.latest?.get() ?? 0
  }

  /** Keeps the text; what was saved or sent is on disk for good when this returns. */
  remember(key: RecordKey, text: string | Uint8Array, how: TextUse, by?: ProcessId): Promise<void> {
    return this.rememberAll(key, [{ text, how, by }])
  }

  /** Keeps these texts of one record, in this order. */
  rememberAll(key: RecordKey, texts: readonly MetText[]): Promise<void> {
    return this.#inTurn(key, directory => this.#keep(keyName(key), directory, texts))
  }

  /** Keeps what was not saved as history; answers the file in which it lies. */
  async archive(
    key: RecordKey,
    bytes: Uint8Array,
    how: 'dropped' | 'discarded' = 'dropped',
  ): Promise<string> {
    await this.remember(key, bytes, how)
    return join(this.#directoryOf(key), textHash(bytes))
  }

  /**
   * The texts that a program on this mount may have had before its eyes, the latest met first; never one that only
   * travelled. What another mount met counts only where this one never met a text of the record.
   */
  candidates(key: RecordKey): Promise<readonly KnownText[]> {
    return this.#inTurn(key, async directory => {
      const every = await this.#marksIn(directory)
      const outcomes = new Map(
        every.filter(mark => mark.own && mark.how === 'outcome').map(mark => [mark.hash, mark.at]),
      )
      const all = every.filter(mark => !isHistory(mark.how))
      const marks = all.some(mark => mark.own) ? all.filter(mark => mark.own) : all
      const known: KnownText[] = []
      for (const [hash, its] of byHash(marks)) {
        const text = this.#textAt(directory, hash)
        if (text === undefined) continue
        const users = this.#users.of(`${keyName(key)} ${hash}`)
        known.push({ text, ...timesOf(its), outcome: outcomes.get(hash), users })
        if (known.length % atOnce === 0) await setImmediate()
      }
      return known.sort((one, other) => other.last - one.last)
    })
  }

  /** The ids of the records of a kind of which texts are kept. */
  async numbered(kind: RecordKind): Promise<readonly string[]> {
    return namesIn(this.#root).flatMap(name => numberIn(name, kind) ?? [])
  }

  /** The texts that this mount has sent since the last text that is known to be stored, the latest first. */
  unsettled(key: RecordKey): Promise<readonly string[]> {
    return this.#inTurn(key, async directory => {
      const marks = (await this.#marksIn(directory)).filter(mark => mark.own)
      const saved = Math.max(0, ...marks.filter(({ how }) => how === 'saved').map(({ at }) => at))
      const sent = marks.filter(({ how, at }) => how === 'sent' && at > saved)
      const latest = sent.toSorted((one, other) => other.at - one.at).slice(0, unsettledAtMost)
      return latest.flatMap(({ hash }) => this.#textAt(directory, hash) ?? [])
    })
  }

  /** The text with this hash, if it is still known. */
  async recall(key: RecordKey, hash: string): Promise<string | undefined> {
    return this.#textAt(this.#directoryOf(key), hash)
  }

  /** Every text that is kept of a record by any mount: how it was met, by its hash. */
  meetings(key: RecordKey): Promise<ReadonlyMap<string, readonly Meeting[]>> {
    return this.#inTurn(key, async directory => byHash(await this.#marksIn(directory)))
  }

  /** Forgets what is older than its days. */
  async purge(): Promise<void> {
    const shown = this.#options.now() - daysOfBase * dayMilliseconds
    const history = this.#options.now() - daysOfHistory * dayMilliseconds
    this.#lasting.clear()
    for (const name of namesIn(this.#root)) {
      // A trial whether the place takes files, cut short by the end of its process.
      if (name.startsWith('.')) continue
      await this.#purgeRecord(
        join(this.#root, name),
        ({ how, at }) => at < (isHistory(how) ? history : shown),
      )
    }
  }

  /** Resolves when everything that was asked to be remembered is, or has failed. */
  settled(): Promise<void> {
    return this.#turns.settled()
  }

  #inTurn<Result>(key: RecordKey, work: (directory: string) => Promise<Result>): Promise<Result> {
    return this.#turns.take(keyName(key), () => work(this.#directoryOf(key)))
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

  #directoryOf(key: RecordKey): string {
    return join(this.#root, keyName(key))
  }

  async #keep(record: string, directory: string, texts: readonly MetText[]): Promise<void> {
    // Not while what made a long text still lies in memory beside it.
    if (texts.some(({ text }) => text.length > longText)) await setImmediate()
    try {
      const isLight = texts.every(({ how }) => how === 'shown' || how === 'read')
      if (isLight) makeDirectoriesNow(directory)
      else await this.#makeLasting(directory)
      const lasting = new Map<string, string | Uint8Array>()
      for (const { text, how, by } of texts) {
        const hash = textHash(text)
        const path = join(directory, hash)
        const at = this.#tick()
        if (how !== 'shown') this.#users.note(`${record} ${hash}`, { how, at, by })
        const mark = `${hash}.${how}.${this.#own}`
        setMark(join(directory, mark), at)
        this.#marks.get(directory)?.set(mark, { hash, how, mount: this.#own, own: true, at })
        const isThere = isWholeAt(path, { hash, length: Buffer.byteLength(text) })
        if (isLight) isThere || replaceFileNow(path, text)
        else if (!isThere || !this.#lasting.has(path)) lasting.set(path, text)
      }
      if (isLight) return
      await placeFiles(lasting)
      for (const path of lasting.keys()) this.#lasting.add(path)
      await syncDirectory(directory)
    } catch (thrown) {
      throw asFailure(thrown)
    }
  }

  /** The names above are kept with those of the drafts beside it. */
  async #makeLasting(directory: string): Promise<void> {
    await makeDirectory(directory)
    for (const made of [this.#root, directory]) {
      if (this.#lasting.has(made)) continue
      await syncDirectory(join(made, '..'))
      this.#lasting.add(made)
    }
  }

  /** Two meetings never have one time, so that "after" always has an answer. */
  #tick(): Instant {
    this.#last = Math.max(this.#options.now(), this.#last + 1)
    this.#options.latest?.set(instant(this.#last))
    return instant(this.#last)
  }

  async #marksIn(directory: string): Promise<readonly Mark[]> {
    const marks: Mark[] = []
    const own = this.#marks.get(directory) ?? new Map<string, Mark>()
    this.#marks.set(directory, own)
    for (const [place, name] of namesIn(directory).entries()) {
      if (place % atOnce === atOnce - 1) await setImmediate()
      const mark = own.get(name) ?? this.#markAt(directory, name)
      if (mark === undefined) continue
      marks.push(mark)
      if (mark.own) own.set(name, mark)
    }
    return marks
  }

  #markAt(directory: string, name: string): Mark | undefined {
    const [, hash, how, mount] = markForm.exec(name) ?? []
    if (hash === undefined || mount === undefined) return undefined
    const status = statSync(join(directory, name), { throwIfNoEntry: false })
    if (status === undefined) return undefined
    const at = instant(Math.round(status.mtimeMs))
    return { hash, how: textUse.parse(how), mount, own: mount === this.#own, at }
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

/** A power cut may have left an empty file under this name. */
function isWholeAt(path: string, { hash, length }: { hash: string; length: number }): boolean {
  return (
    readOwnFileNow(path, (descriptor, bytes) => bytes === length && fileHash(descriptor) === hash) === true
  )
}

/** In pieces: a text may be long, and is there already where another program reads it. */
function fileHash(descriptor: number): string {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(hashedAtOnce)
  for (let bytes = readSync(descriptor, piece); bytes > 0; bytes = readSync(descriptor, piece))
    hash.update(piece.subarray(0, bytes))
  return hash.digest('hex')
}

const bytesAt = (path: string): Buffer | undefined =>
  readOwnFileNow(path, descriptor => readFileSync(descriptor))

function byHash(marks: readonly Mark[]): ReadonlyMap<string, readonly Mark[]> {
  const found = new Map<string, Mark[]>()
  for (const mark of marks) {
    const its = found.get(mark.hash)
    if (its === undefined) found.set(mark.hash, [mark])
    else its.push(mark)
  }
  return found
}

function timesOf(marks: readonly Mark[]): Pick<KnownText, 'last' | 'read' | 'saved'> {
  const last = (chosen: readonly Mark[]) => instant(Math.max(...chosen.map(mark => mark.at)))
  const lastAs = (how: TextUse) => {
    const chosen = marks.filter(mark => mark.own && mark.how === how)
    return chosen.length === 0 ? undefined : last(chosen)
  }
  return { last: last(marks), read: lastAs('read'), saved: lastAs('saved') }
}
