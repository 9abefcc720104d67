// Blob store: the files of the content cache on disk; a temporary file becomes a kept one by a single rename, checksum included.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, lstatSync, open as openDescriptor, openSync, rmSync } from 'node:fs'
import { opendir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MaybePromise } from '../../../maybe-promise.js'
import { type Content, type Instant, instant } from '../../../remote/remote.js'
import { codeOf, isMissing } from '../../../system/error-code.js'
import { machineClocks } from '../../../system/machine-clocks.js'
import { clearPlace, forReading, makePrivateNow } from '../../../system/own-file.js'
import { isProcessAlive } from '../../../system/process.js'
import type { LogFunction } from '../../ledger/ledger.js'
import { Blob } from './blob.js'
import { type Checksum, checksumIn, footerBytes, listBytes, shortBytes, trailerOf } from './checksum.js'
import type { KeptRow } from './kept-table.js'
import { CacheFile } from './open-file.js'
import { readShortFile, writeShortFile } from './short-files.js'

/** The file name of a content: 64 hexadecimal digits. UTF-16 is hashed, where lone surrogates stay different. */
export function contentFileName({ of, calculation, mark = '', title }: Content): string {
  // The title stands last, so that no two contents share a text.
  const key = `${of}\0${calculation}${mark === '' ? '' : `/${mark}`}\0${title}`
  return hash('sha256', Buffer.from(key, 'utf16le'))
}

const fileNameForm = /^[0-9a-f]{64}$/

/** A file being written; nothing reads its name but its own process. */
export interface UnfinishedFile {
  readonly file: CacheFile
  readonly path: string
}

export interface StoreSettings {
  readonly now: () => Instant
  readonly log: LogFunction
  /** Told of each kept file that has gone, and when that began. */
  readonly dropped?: ((name: string, since: Instant) => void) | undefined
}

// A descriptor rather than a FileHandle: that one is slower and closes itself when it is collected.
const open = promisify(openDescriptor)

// The proof finds what a power cut took from a file that was not synced, and it is downloaded again. Waiting for the disk
// pays only where that download would be long.
const syncFromBytes = 8 << 20

// Writers stop after a minute without progress, so an hour without a write means a dead one whose pid lives again.
const forsakenAfterMs = 3_600_000

/** Milliseconds: a step that takes longer has waited for the disk, which is left to the thread pool then. */
const [slowAfterMs, slowForMs] = [50, 2_000]

/** The stores of this very process: a file of theirs has an owner, one of another with our number has none. */
const ownersHere = new Set<string>()

export class BlobStore {
  private readonly kept: string
  private readonly unfinished: string
  private readonly owner = `${process.pid}-${randomBytes(6).toString('hex')}`
  private slowUntil = 0
  private created = 0

  /** Made if missing (0700); the files in it are 0600. Throws what the disk says. */
  constructor(
    private readonly directory: string,
    private readonly settings: StoreSettings,
  ) {
    this.kept = join(directory, 'kept')
    this.unfinished = join(directory, 'unfinished')
    ownersHere.add(this.owner)
    this.makeDirectories()
  }

  create(): Promise<UnfinishedFile> {
    return this.withDirectories(async () => {
      const path = this.unfinishedPath()
      return { file: new CacheFile(await open(path, 'wx+', 0o600)), path }
    })
  }

  /** Writes a whole content and gives it its name, at once where the disk is quick; fails (and leaves no file) where the disk will not have it. */
  keep(name: string, bytes: Uint8Array, checksum: Checksum): MaybePromise<void> {
    const parts = [bytes, trailerOf(checksum, name)]
    const write = (): void => writeShortFile(parts, this.unfinishedPath(), this.pathOf(name))
    try {
      if (this.atOnce(write) !== undefined) return undefined
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return this.withDirectories(() => this.keepLater(name, bytes, checksum))
  }

  /** Gives a finished file its name in one step; rejects (and leaves no file) where the disk will not have it. */
  async publish({ file, path }: UnfinishedFile, name: string, checksum: Checksum): Promise<void> {
    try {
      await file.write(trailerOf(checksum, name), checksum.length)
      if (checksum.length >= syncFromBytes) await file.sync()
      await rename(path, this.pathOf(name))
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }

  /** Undefined if it is not kept; one whose proof is not whole is dropped. In one step: what is let go meanwhile would be read for ever. */
  open(name: string): Blob | undefined {
    const { log, now } = this.settings
    // Looking costs a twentieth of an open that fails, and most files that are asked about are not kept yet.
    if (!this.has(name)) return undefined
    const aside = clearPlace(this.pathOf(name), 'file')
    if (aside !== undefined) log('what stood in the place of a kept file was moved aside', { aside })
    const file = openNow(this.pathOf(name))
    if (file === undefined) return undefined
    try {
      const checksum = checksumAtEnd(file, name)
      if (checksum !== undefined) return new Blob(file, checksum, now)
    } catch (error) {
      file.close()
      throw error
    }
    file.close()
    log('a kept file was damaged and is dropped', { name })
    this.dropNow(name)
    return undefined
  }

  /** Fills it at once with a short kept content of that length; false where it is none, or none whole, or the disk is slow just now. */
  readShort(name: string, into: Uint8Array): boolean {
    return this.atOnce(() => readShortFile(this.pathOf(name), name, into))?.done === true
  }

  /** Hands nothing to another thread, which costs more than short work itself. Undefined where the disk was slow just now. */
  private atOnce<Value>(work: () => Value): { readonly done: Value } | undefined {
    const began = machineClocks.monotonic()
    if (began < this.slowUntil) return undefined
    try {
      return { done: work() }
    } finally {
      const ended = machineClocks.monotonic()
      if (ended - began > slowAfterMs) this.slowUntil = ended + slowForMs
    }
  }

  has(name: string): boolean {
    return existsSync(this.pathOf(name))
  }

  /** A kept file as the directory shows it. */
  find(name: string): KeptRow | undefined {
    const status = lstatSync(this.pathOf(name), { throwIfNoEntry: false })
    return status && { name, bytes: status.size, used: instant(status.mtimeMs) }
  }

  async *names(): AsyncIterable<string> {
    for await (const name of this.namesIn(this.kept)) if (fileNameForm.test(name)) yield name
  }

  /** `bytes` is what it takes on disk, if that is known: a short one goes at once. */
  async drop(name: string, bytes = Number.POSITIVE_INFINITY): Promise<void> {
    const since = this.settings.now()
    const path = this.pathOf(name)
    try {
      const now = bytes > shortBytes ? undefined : this.atOnce(() => rmSync(path, { force: true }))
      if (now === undefined) await rm(path, { force: true })
    } catch (error) {
      // The directory was taken away and something else stands in its place: nothing is kept there.
      if (codeOf(error) !== 'ENOTDIR') throw error
    }
    this.settings.dropped?.(name, since)
  }

  /** The same at once, of one that is not what was kept: the next one of this name is another file. */
  dropNow(name: string): void {
    const since = this.settings.now()
    if (this.has(name)) rmSync(this.pathOf(name), { force: true })
    this.settings.dropped?.(name, since)
  }

  /** Never rejects: what cannot be removed now is removed by a later `sweep`. */
  async discard({ file, path }: UnfinishedFile): Promise<void> {
    file.close()
    await rm(path, { force: true }).catch(error =>
      this.settings.log('an unfinished file could not be removed', { path, error: String(error) }),
    )
  }

  /** Removes what dead processes left; returns how many files. */
  async sweep(): Promise<number> {
    let removed = 0
    for await (const name of this.namesIn(this.unfinished)) {
      if (!(await this.isForsaken(name))) continue
      await rm(join(this.unfinished, name), { force: true })
      removed += 1
    }
    return removed
  }

  // Not `join`, which looks at every letter of what is known to be plain.
  private pathOf(name: string): string {
    return `${this.kept}/${name}`
  }

  private unfinishedPath(): string {
    this.created += 1
    return `${this.unfinished}/${this.owner}-${this.created}`
  }

  private makeDirectories(): void {
    for (const path of [this.directory, this.kept, this.unfinished]) makePrivateNow(path)
  }

  /** Once more where a directory was deleted under the store. */
  private async withDirectories<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const isWhole = existsSync(this.kept) && existsSync(this.unfinished)
      if (!isMissing(error) || isWhole) throw error
      const { directory } = this
      this.settings.log('the directory of kept contents was deleted and is made again', { directory })
      this.makeDirectories()
      return work()
    }
  }

  private async keepLater(name: string, bytes: Uint8Array, checksum: Checksum): Promise<void> {
    const unfinished = await this.create()
    try {
      await unfinished.file.write(bytes, 0)
      await this.publish(unfinished, name, checksum)
      unfinished.file.close()
    } catch (error) {
      await this.discard(unfinished)
      throw error
    }
  }

  private async isForsaken(name: string): Promise<boolean> {
    if (ownersHere.has(name.slice(0, name.lastIndexOf('-')))) return false
    const pid = Number.parseInt(name, 10)
    if (!(pid > 0) || pid === process.pid || !(await isProcessAlive(pid))) return true
    const status = await stat(join(this.unfinished, name)).catch(ifMissing)
    return status !== undefined && status.mtimeMs < this.settings.now() - forsakenAfterMs
  }

  private async *namesIn(where: string): AsyncIterable<string> {
    const found = await this.withDirectories(() => opendir(where, { bufferSize: 512 }))
    for await (const { name } of found) yield name
  }
}

function openNow(path: string): CacheFile | undefined {
  try {
    return new CacheFile(openSync(path, forReading))
  } catch (error) {
    return ifMissing(error)
  }
}

/** The proof behind the bytes; undefined where the file was cut, changed or never one of ours. */
function checksumAtEnd(file: CacheFile, name: string): Checksum | undefined {
  const fileBytes = file.status().size
  if (fileBytes < footerBytes) return undefined
  const footer = Buffer.alloc(footerBytes)
  file.readNow(footer, fileBytes - footerBytes)
  const list = listBytes(footer, fileBytes)
  if (list === undefined) return undefined
  const trailer = Buffer.alloc(list + footerBytes)
  file.readNow(trailer, fileBytes - trailer.length)
  return checksumIn(trailer, name)
}

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
