// The copy of trees: walks ahead of the files, many at once, and keeps what is there already.
import { closeSync, fchmodSync, futimesSync, openSync, readSync, type Stats, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type DriveEntry,
  type DriveReader,
  isProblem,
  type TreeProblem,
} from '../../drive/interface/reader.js'
import { asFailure, Failure } from '../../failure.js'
import { forReading, makeDirectoriesNow, privateFile } from '../../system/own-file.js'
import { Stop } from '../../terminal/exit.js'
import {
  inTheWay,
  makeDirectory,
  makeLink,
  onDisk,
  placed,
  secondsOf,
  setTime,
  standing,
} from './local-disk.js'
import type { WorkDone } from './progress-line.js'

/** One tree or file, and where it goes: the local path of its top. */
export interface CopyOrder {
  readonly path: string
  readonly target: string
}

export interface CopyRules {
  /** A directory that is made before the first thing in it is. */
  readonly base: string | undefined
  readonly jobs: number
  readonly follow?: true
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  /** Bytes are compared, although size and time are the same. */
  readonly checksum?: true
  readonly overwrite?: true
}

/** How far a copy is. `links` that lead out of what is copied, or nowhere, are `linksOut`, too. */
export type CopyProgress = { -readonly [Field in keyof WorkDone]: WorkDone[Field] } & {
  copied: number
  copiedBytes: number
  same: number
  links: number
  linksOut: number
}

interface Place extends CopyOrder {
  readonly top: CopyOrder
}

/** A local time counts as the same within so many milliseconds; more where the file system keeps no parts of seconds. */
const sameWithinMs = 1
const coarseMs = 2_000
/** Less what the umask of the shell takes. */
const everybody = 0o777
/** Read once: it can only be read by setting it. */
const umask = process.umask()

export class Copy {
  readonly progress: CopyProgress = {
    ...{ files: 0, filesDone: 0, bytes: 0, bytesDone: 0, isGrowing: true },
    ...{ copied: 0, copiedBytes: 0, same: 0, links: 0, linksOut: 0 },
  }
  readonly #missing: TreeProblem[] = []
  readonly #underWay = new Set<Promise<void>>()
  #oneEnded = (): void => {}
  readonly #made = new Set<string>()
  readonly #times: (CopyOrder & { readonly mtimeMs: number })[] = []

  /** @param stop ends the copy, for whatever reason; a full disk and a daemon that hangs do */
  constructor(
    private readonly reader: DriveReader,
    private readonly rules: CopyRules,
    private readonly stop: AbortController,
  ) {}

  /** `failed` is told what could not be had, by its path on the drive. @throws the reason of `stop` */
  async run(orders: readonly CopyOrder[], failed: (path: string, failure: Failure) => void): Promise<void> {
    try {
      for (const order of orders) await this.#walk(order)
      this.progress.isGrowing = false
    } catch (thrown) {
      this.stop.abort(thrown)
    }
    // Copies under way remove what they have written aside.
    await Promise.all(this.#underWay)
    this.stop.signal.throwIfAborted()
    for (const { path, failure } of this.#missing) failed(path, failure)
    // A new file changes the time of its directory: the deepest comes first, when all files are there.
    for (const { path, target, mtimeMs } of this.#times.toReversed()) {
      try {
        setTime(target, mtimeMs)
      } catch (thrown) {
        failed(path, asFailure(thrown))
      }
    }
  }

  async #walk(top: CopyOrder): Promise<void> {
    const { path, target } = top
    const { follow, include, exclude, base } = this.rules
    const asked = { path, attributes: true, follow: follow === true, filter: { include, exclude } }
    const blocked: string[] = []
    for await (const items of this.reader.tree(asked, this.stop.signal))
      for (const item of items) {
        this.stop.signal.throwIfAborted()
        if (blocked.some(directory => item.path.startsWith(`${directory}/`))) continue
        const below = item.path === path ? '' : item.path.slice(path === '/' ? 1 : path.length + 1)
        const place = { path: item.path, target: join(target, below), top }
        if (isProblem(item)) {
          this.#met(item.failure, place)
          continue
        }
        if (base !== undefined && !this.#made.has(base)) {
          onDisk(base, () => makeDirectoriesNow(base, everybody))
          this.#made.add(base)
        }
        try {
          await this.#take(item, place)
        } catch (thrown) {
          this.#met(thrown, place)
          if (item.type === 'directory') blocked.push(item.path)
        }
      }
  }

  async #take(entry: DriveEntry, { path, target, top }: Place): Promise<void> {
    if (entry.type === 'directory') {
      // Where only some files are wanted, directories come with the first of them.
      if (this.rules.include !== undefined) return
      await this.#makeDirectory(target, top)
      if (entry.mtime !== undefined) this.#times.push({ path, target, mtimeMs: entry.mtime })
      return
    }
    if (target !== top.target) await this.#makeDirectory(dirname(target), top)
    if (entry.type === 'link' && entry.target !== undefined) {
      await makeLink(target, entry.target, entry.mtime)
      this.progress.links += 1
      if (!isBelow(join(dirname(path), entry.target), top.path)) this.progress.linksOut += 1
    }
    // Without a size its problem is the next item.
    if (entry.type !== 'file' || entry.size === undefined) return
    while (this.#underWay.size >= this.rules.jobs) await new Promise<void>(ended => (this.#oneEnded = ended))
    this.stop.signal.throwIfAborted()
    const copying = this.#file(entry, entry.size, { path, target, top }).finally(() => {
      this.#underWay.delete(copying)
      this.#oneEnded()
    })
    this.#underWay.add(copying)
  }

  async #makeDirectory(target: string, top: CopyOrder): Promise<void> {
    if (this.#made.has(target)) return
    if (target !== top.target) await this.#makeDirectory(dirname(target), top)
    await makeDirectory(target)
    this.#made.add(target)
  }

  #met(thrown: unknown, { path }: Place): void {
    if (this.stop.signal.aborted) return
    const failure = asFailure(thrown)
    if (thrown instanceof Stop || failure.kind === 'no-space') this.stop.abort(thrown)
    else this.#missing.push({ path, failure })
  }

  /** Never rejects. */
  async #file(entry: DriveEntry, size: number, place: Place): Promise<void> {
    const { progress } = this
    progress.files += 1
    progress.bytes += size
    let arrived = 0
    const counted = (bytes: number): void => {
      arrived += bytes
      progress.bytesDone += bytes
    }
    try {
      const isCopied = await this.#bring(entry, place.target, counted)
      progress.filesDone += 1
      progress.copied += isCopied ? 1 : 0
      progress.copiedBytes += isCopied ? size : 0
      progress.same += isCopied ? 0 : 1
      counted(size - arrived)
    } catch (thrown) {
      counted(-arrived)
      this.#met(thrown, place)
    }
  }

  /** Answers false where the file was there. @throws Failure 'exists' where something else stands there */
  async #bring(entry: DriveEntry, target: string, counted: (bytes: number) => void): Promise<boolean> {
    const before = standing(target)
    if (before !== undefined) {
      if (!before.isFile()) throw inTheWay(target)
      if (await this.#isSame(entry, target, before)) return false
      if (!this.rules.overwrite)
        throw new Failure(
          'exists',
          `${target}: it differs from the drive's, and stays; move it away, or take the drive's with --overwrite`,
        )
    }
    await placed(target, async aside => {
      const file = openSync(aside, 'wx', privateFile)
      try {
        const sink = (bytes: Uint8Array): void => {
          onDisk(target, () => writeAll(file, bytes))
          counted(bytes.length)
        }
        const { mtime, mode } = await this.reader.file(entry.path, sink, this.stop.signal)
        this.stop.signal.throwIfAborted()
        futimesSync(file, secondsOf(mtime), secondsOf(mtime))
        fchmodSync(file, mode & everybody & ~umask)
      } finally {
        closeSync(file)
      }
      const now = standing(target)
      // The same one may have come by another copy.
      const isOther = now !== undefined && !(now.size === entry.size && isSameTime(now, entry.mtime))
      if (!this.rules.overwrite && isOther)
        throw new Failure('replaced', `${target}: a file was made here while it was copied, and stays`)
    })
    return true
  }

  async #isSame({ path, size, mtime }: DriveEntry, target: string, before: Stats): Promise<boolean> {
    if (before.size !== size) return false
    const hasTime = isSameTime(before, mtime)
    if (hasTime && !this.rules.checksum) return true
    const file = onDisk(target, () => openSync(target, forReading))
    let offset = 0
    let isEqual = true
    const compare = (bytes: Uint8Array): void => {
      const here = Buffer.allocUnsafe(bytes.length)
      const read = onDisk(target, () => readSync(file, here, 0, bytes.length, offset))
      offset += bytes.length
      isEqual &&= here.subarray(0, read).equals(bytes)
    }
    try {
      await this.reader.file(path, compare, this.stop.signal)
    } finally {
      closeSync(file)
    }
    // The drive's may have become shorter since it was listed.
    if (!isEqual || offset !== before.size) return false
    if (!hasTime && mtime !== undefined) setTime(target, mtime)
    return true
  }
}

const isSameTime = ({ mtimeMs }: Stats, wanted = 0): boolean =>
  Math.abs(mtimeMs - wanted) <= (mtimeMs % 1000 === 0 ? coarseMs : sameWithinMs)

function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}

const isBelow = (path: string, top: string): boolean =>
  top === '/' || path === top || path.startsWith(`${top}/`)
