// Blob store: the files of the content cache on disk; a temporary file becomes a kept one by a single rename, checksum included.
import { hash, randomBytes } from 'node:crypto'
import { existsSync, open as openDescriptor, statSync } from 'node:fs'
import { lstat, opendir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MaybePromise } from '../../../maybe-promise.js'
import { type Content, type Instant, instant } from '../../../remote/remote.js'
import { codeOf, isMissing } from '../../../system/error-code.js'
import { clearPlace, makePrivateNow } from '../../../system/own-file.js'
import { isProcessAlive } from '../../../system/process.js'
import type { LogFunction } from '../../ledger/ledger.js'
import { type Blob, blobOf } from './blob.js'
import { type Checksum, checksumIn, footerBytes, listBytes, trailerOf } from './checksum.js'
import { type CacheFile, openCacheFile } from './open-file.js'
import { openShortFiles } from './short-files.js'

/** One text per content, cheap enough for every read; the title stands last, so that no two contents share a text. */
export function contentKeyOf({ of, calculation, mark = '', title }: Content): string {
  return `${of}\0${calculation}${mark === '' ? '' : `/${mark}`}\0${title}`
}

/** The file name of a content: 64 hexadecimal digits. UTF-16 is hashed, where lone surrogates stay different. */
export function contentFileName(key: string): string {
  return hash('sha256', Buffer.from(key, 'utf16le'))
}

const fileNameForm = /^[0-9a-f]{64}$/

/** A file being written; nothing reads its name but its own process. */
export interface UnfinishedFile {
  readonly file: CacheFile
  readonly path: string
}

/** A kept file as the directory shows it. */
export interface StoredFile {
  readonly name: string
  /** On disk, proof included. */
  readonly bytes: number
  readonly used: Instant
}

export interface BlobStore {
  create(): Promise<UnfinishedFile>
  /** Writes a whole content and gives it its name, at once where the disk is quick; fails (and leaves no file) where the disk will not have it. */
  keep(name: string, bytes: Uint8Array, checksum: Checksum): MaybePromise<void>
  /** Gives a finished file its name in one step; rejects (and leaves no file) where the disk will not have it. */
  publish(unfinished: UnfinishedFile, name: string, checksum: Checksum): Promise<void>
  /** Undefined if it is not kept; one whose proof is not whole is dropped. */
  open(name: string): Promise<Blob | undefined>
  /** Gives a short kept content at once, to be copied; nothing where it is none, or none whole, or the disk is slow just now. */
  readShort(name: string, take: (bytes: Uint8Array) => void): void
  has(name: string): boolean
  /** Where a kept file lies, or would lie. */
  pathOf(name: string): string
  /** `bytes` is what it takes on disk, if that is known: a short one goes at once. */
  drop(name: string, bytes?: number): Promise<void>
  /** Never rejects: what cannot be removed now is removed by a later `sweep`. */
  discard(unfinished: UnfinishedFile): Promise<void>
  list(): AsyncIterable<StoredFile>
  /** True if the directory of kept files was deleted, or made again, since the last question. */
  wasEmptied(): boolean
  /** Remembers the last use in the file's own times, which a second daemon sees too. */
  used(name: string, at: Instant): Promise<void>
  /** Removes what dead processes left; returns how many files. */
  sweep(): Promise<number>
}

export interface StoreSettings {
  readonly now: () => Instant
  readonly log: LogFunction
  /** Told of each kept file that goes. */
  readonly dropped?: ((name: string) => void) | undefined
}

// A descriptor rather than a FileHandle: that one is slower and closes itself when it is collected.
const open = promisify(openDescriptor)

// The proof finds what a power cut took from a file that was not synced, and it is downloaded again. Waiting for the disk
// pays only where that download would be long.
const syncFromBytes = 8 << 20

// Writers stop after a minute without progress, so an hour without a write means a dead one whose pid lives again.
const forsakenAfterMs = 3_600_000

/** The stores of this very process: a file of theirs has an owner, one of another with our number has none. */
const ownersHere = new Set<string>()

/** Opens the store in `directory`, made if missing (0700); the files in it are 0600. Throws what the disk says. */
export function openBlobStore(directory: string, settings: StoreSettings): BlobStore {
  const keptDirectory = join(directory, 'kept')
  const unfinishedDirectory = join(directory, 'unfinished')
  // Not `join`, which looks at every letter of what is known to be plain.
  const pathOf = (name: string) => `${keptDirectory}/${name}`
  const owner = `${process.pid}-${randomBytes(6).toString('hex')}`
  ownersHere.add(owner)
  const short = openShortFiles()
  let created = 0
  function makeDirectories(): void {
    for (const path of [directory, keptDirectory, unfinishedDirectory]) makePrivateNow(path)
  }
  makeDirectories()
  let place = identityOf(keptDirectory)

  /** Once more where a directory was deleted under the store. */
  async function withDirectories<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const isWhole = existsSync(keptDirectory) && existsSync(unfinishedDirectory)
      if (!isMissing(error) || isWhole) throw error
      settings.log('the directory of kept contents was deleted and is made again', { directory })
      makeDirectories()
      return work()
    }
  }

  async function drop(name: string, bytes = Number.POSITIVE_INFINITY): Promise<void> {
    settings.dropped?.(name)
    try {
      if (!short.drop(pathOf(name), bytes)) await rm(pathOf(name), { force: true })
    } catch (error) {
      // The directory was taken away and something else stands in its place: nothing is kept there.
      if (codeOf(error) !== 'ENOTDIR') throw error
    }
  }

  async function discard(unfinished: UnfinishedFile): Promise<void> {
    unfinished.file.close()
    await rm(unfinished.path, { force: true }).catch(error => {
      settings.log('an unfinished file could not be removed', { path: unfinished.path, error: String(error) })
    })
  }

  async function find(name: string): Promise<StoredFile | undefined> {
    const status = await lstat(pathOf(name)).catch(ifMissing)
    return status && { name, bytes: status.size, used: instant(status.mtimeMs) }
  }

  async function isForsaken(name: string): Promise<boolean> {
    if (ownersHere.has(name.slice(0, name.lastIndexOf('-')))) return false
    const pid = Number.parseInt(name, 10)
    if (!(pid > 0) || pid === process.pid || !(await isProcessAlive(pid))) return true
    const status = await stat(join(unfinishedDirectory, name)).catch(ifMissing)
    return status !== undefined && status.mtimeMs < settings.now() - forsakenAfterMs
  }

  function unfinishedPath(): string {
    created += 1
    return `${unfinishedDirectory}/${owner}-${created}`
  }

  const create = (): Promise<UnfinishedFile> =>
    withDirectories(async () => {
      const path = unfinishedPath()
      return { file: openCacheFile(await open(path, 'wx+', 0o600)), path }
    })

  function keep(name: string, bytes: Uint8Array, checksum: Checksum): MaybePromise<void> {
    const parts = [bytes, trailerOf(checksum, name)]
    try {
      if (short.keep(parts, unfinishedPath(), pathOf(name))) return undefined
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return withDirectories(() => keepLater(name, parts))
  }

  async function keepLater(name: string, parts: readonly Uint8Array[]): Promise<void> {
    const unfinished = await create()
    try {
      await unfinished.file.writeFirst(parts)
      await rename(unfinished.path, pathOf(name))
      unfinished.file.close()
    } catch (error) {
      await discard(unfinished)
      throw error
    }
  }

  async function* names(where: string): AsyncIterable<string> {
    const found = await withDirectories(() => opendir(where, { bufferSize: 512 }))
    for await (const { name } of found) yield name
  }

  return {
    create,
    keep,
    async publish(unfinished, name, checksum) {
      try {
        await unfinished.file.write(trailerOf(checksum, name), checksum.length)
        if (checksum.length >= syncFromBytes) await unfinished.file.sync()
        await rename(unfinished.path, pathOf(name))
      } catch (error) {
        await rm(unfinished.path, { force: true })
        throw error
      }
    },
    async open(name) {
      const aside = clearPlace(pathOf(name), 'file')
      if (aside !== undefined)
        settings.log('what stood in the place of a kept file was moved aside', { aside })
      const descriptor = await open(pathOf(name), 'r').catch(ifMissing)
      if (descriptor === undefined) return undefined
      const file = openCacheFile(descriptor)
      const checksum = await checksumAtEnd(file, name)
      if (checksum !== undefined) return blobOf({ name, file, checksum }, 'found', settings.now)
      file.close()
      settings.log('a kept file was damaged and is dropped', { name })
      await drop(name)
      return undefined
    },
    readShort: (name, take) => short.read(pathOf(name), name, take),
    has: name => existsSync(pathOf(name)),
    pathOf,
    drop,
    discard,
    async *list() {
      for await (const name of names(keptDirectory)) {
        const found = fileNameForm.test(name) ? await find(name) : undefined
        if (found !== undefined) yield found
      }
    },
    wasEmptied() {
      const before = place
      place = identityOf(keptDirectory)
      return place !== before
    },
    async used(name, at) {
      await utimes(pathOf(name), at / 1000, at / 1000).catch(ifMissing)
    },
    async sweep() {
      let removed = 0
      for await (const name of names(unfinishedDirectory)) {
        if (!(await isForsaken(name))) continue
        await rm(join(unfinishedDirectory, name), { force: true })
        removed += 1
      }
      return removed
    },
  }
}

/** The proof behind the bytes; undefined where the file was cut, changed or never one of ours. */
async function checksumAtEnd(file: CacheFile, name: string): Promise<Checksum | undefined> {
  const fileBytes = file.length()
  if (fileBytes < footerBytes) return undefined
  const footer = Buffer.alloc(footerBytes)
  await file.read(footer, fileBytes - footerBytes)
  const list = listBytes(footer, fileBytes)
  if (list === undefined) return undefined
  const trailer = Buffer.alloc(list + footerBytes)
  await file.read(trailer, fileBytes - trailer.length)
  return checksumIn(trailer, name)
}

/** An inode number alone is no identity: ext4 reuses that of a deleted directory. Undefined where it cannot be seen. */
function identityOf(directory: string): string | undefined {
  try {
    const { ino, birthtimeNs } = statSync(directory, { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    return undefined
  }
}

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
