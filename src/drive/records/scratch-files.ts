// Scratch files: editors' own files beside a record (swap, backup, temporary), kept in the state directory; they never reach the service.
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename, stat, truncate, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { Turns } from '../../edit/journal/lock.js'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { type ByteOffset, type Instant, instant } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import { makeDirectory, namesIn, replaceFile, syncDirectory } from '../../system/own-file.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import type { Dentry, ScratchPlace } from '../nodes/node.js'

/** One file, under whatever name: its open handles learn here what became of it. */
interface LocalFile {
  /** A program has opened or cut it since the mount came up, or had written or read its text before it was moved here. */
  isMet: boolean
  /** It was moved over a record, which has its text from here on. */
  isOver: boolean
  /** Its changes, one after another: a text that is read behind them has all of their bytes. */
  readonly turns: Turns
}

export class ScratchFiles {
  /** By directory and name. */
  readonly #files = new Map<string, Map<string, LocalFile>>()
  /** Locks: kept in memory only, because the program that held one is gone with the mount. */
  readonly #links = new Map<string, Map<string, string>>()

  /** Those left below `root` by an earlier mount (a swap file after a crash) are still there. */
  constructor(private readonly root: string) {
    // Made with the first file: a command without a mount leaves no directory behind.
    for (const directory of namesIn(root))
      for (const file of namesIn(join(root, directory))) this.#fresh({ directory, name: titleOf(file) })
  }

  entries(directory: string): readonly Dentry[] {
    return [
      ...[...(this.#files.get(directory)?.keys() ?? [])].map(name => dentry({ directory, name })),
      ...[...(this.#links.get(directory) ?? [])].map(([name, to]) => dentry({ directory, name }, to)),
    ]
  }

  async create(place: ScratchPlace): Promise<ScratchHandle> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC
    const handle = await withLocalFailures(open(await this.#ready(place), flags, 0o600))
    return this.#opened(handle, place, this.#known(place) ?? this.#fresh(place))
  }

  async open(place: ScratchPlace): Promise<ScratchHandle> {
    const file = this.#at(place)
    return this.#opened(await withLocalFailures(open(this.#pathOf(place), constants.O_RDWR)), place, file)
  }

  async stat(place: ScratchPlace): Promise<{ size: number; mtime: Instant }> {
    const { size, mtimeMs } = await withLocalFailures(stat(this.#pathOf(place)))
    return { size, mtime: instant(Math.floor(mtimeMs)) }
  }

  /**
   * Moves the file over a record, by handing its text to `put`; what is written to it from here on is refused, for it would
   * be lost. `isUnread`: it was moved here and no program has opened it since, as far as this mount knows.
   */
  async moveOver(
    place: ScratchPlace,
    put: (text: Uint8Array, isUnread: boolean) => Promise<void>,
  ): Promise<void> {
    const file = this.#at(place)
    file.isOver = true
    try {
      const text = file.turns.take('', () => readFile(this.#pathOf(place)))
      await put(await withLocalFailures(text), !file.isMet)
    } catch (thrown) {
      file.isOver = false
      throw thrown
    }
    await this.remove(place)
  }

  /** Puts a text under this name for good, replacing what was there. */
  async put(place: ScratchPlace, text: Uint8Array, isUnread: boolean): Promise<void> {
    // Another file: a program that has the one of before open writes nothing into this text.
    await withLocalFailures(replaceFile(await this.#ready(place), text))
    this.#fresh(place).isMet = !isUnread
  }

  async truncate(place: ScratchPlace, size: number): Promise<void> {
    await withLocalFailures(truncate(this.#pathOf(place), size))
    this.#at(place).isMet = true
  }

  setTime(place: ScratchPlace, mtime: Instant): Promise<void> {
    return withLocalFailures(utimes(this.#pathOf(place), mtime / 1000, mtime / 1000))
  }

  async rename(from: ScratchPlace, to: ScratchPlace): Promise<void> {
    const file = this.#at(from)
    await withLocalFailures(rename(this.#pathOf(from), await this.#ready(to)))
    this.#files.get(from.directory)?.delete(from.name)
    this.#name(to, file)
  }

  async remove(place: ScratchPlace): Promise<void> {
    await withLocalFailures(unlink(this.#pathOf(place)))
    this.#files.get(place.directory)?.delete(place.name)
  }

  link({ directory, name }: ScratchPlace, to: string): void {
    this.#links.set(directory, (this.#links.get(directory) ?? new Map()).set(name, to))
  }

  unlink({ directory, name }: ScratchPlace): void {
    this.#links.get(directory)?.delete(name)
  }

  #pathOf({ directory, name }: ScratchPlace): string {
    return join(this.root, directory, escapeTitle(name))
  }

  async #ready(place: ScratchPlace): Promise<string> {
    await makeDirectory(join(this.root, place.directory)).catch(rethrow)
    return this.#pathOf(place)
  }

  #known({ directory, name }: ScratchPlace): LocalFile | undefined {
    return this.#files.get(directory)?.get(name)
  }

  #at(place: ScratchPlace): LocalFile {
    const known = this.#known(place)
    if (known === undefined) throw isGone()
    return known
  }

  #fresh(place: ScratchPlace): LocalFile {
    return this.#name(place, { isMet: false, isOver: false, turns: new Turns() })
  }

  #name({ directory, name }: ScratchPlace, file: LocalFile): LocalFile {
    this.#files.set(directory, (this.#files.get(directory) ?? new Map()).set(name, file))
    return file
  }

  #opened(handle: FileHandle, { directory }: ScratchPlace, file: LocalFile): ScratchHandle {
    file.isMet = true
    return new ScratchHandle(handle, file, join(this.root, directory))
  }
}

/** A local file that a program has open. */
class ScratchHandle {
  constructor(
    private readonly handle: FileHandle,
    private readonly file: LocalFile,
    private readonly directory: string,
  ) {}

  async read(target: Uint8Array, offset: ByteOffset): Promise<number> {
    return (await this.handle.read(target, 0, target.length, offset)).bytesRead
  }

  write(bytes: Uint8Array, offset: ByteOffset): Promise<void> {
    return this.#change(async () => {
      // A full disk takes a part of the bytes before it refuses the rest.
      for (let done = 0; done < bytes.length; )
        done += (await this.handle.write(bytes, done, bytes.length - done, offset + done)).bytesWritten
    })
  }

  truncate(size: ByteOffset): Promise<void> {
    return this.#change(() => this.handle.truncate(size))
  }

  /** Its name survives a power cut, too. */
  async sync(): Promise<void> {
    await this.handle.sync()
    await withLocalFailures(syncDirectory(this.directory))
  }

  release(): Promise<void> {
    return this.handle.close()
  }

  async #change(work: () => Promise<void>): Promise<void> {
    if (this.file.isOver) throw new Failure('conflict', 'this file was moved over a record')
    await this.file.turns.take('', work).catch(rethrow)
  }
}

const dentry = (place: ScratchPlace, to?: string): Dentry => ({
  name: place.name,
  node: to === undefined ? { kind: 'scratch', place } : { kind: 'link', to, place },
})

async function withLocalFailures<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (thrown) {
    if (isMissing(thrown)) throw isGone(thrown)
    throw asFailure(thrown)
  }
}

const isGone = (cause?: unknown): Failure => new Failure('absent', 'this local file is gone', { cause })
