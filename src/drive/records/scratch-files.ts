// Scratch files: editors' own files beside a record (swap, backup, temporary), kept in the state directory; they never reach the service.
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename, stat, unlink, utimes } from 'node:fs/promises'
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
  /** By directory and name; the target of a lock, which is a link, in memory only: the program that held it is gone with the mount. */
  readonly #files = new Map<string, Map<string, LocalFile | string>>()

  /** Those left below `root` by an earlier mount (a swap file after a crash) are still there. */
  constructor(private readonly root: string) {
    // Made with the first file: a command without a mount leaves no directory behind.
    for (const directory of namesIn(root))
      for (const file of namesIn(join(root, directory))) this.#fresh({ directory, name: titleOf(file) })
  }

  entries(directory: string): readonly Dentry[] {
    return [...(this.#files.get(directory) ?? [])].map(([name, file]) => dentry({ directory, name }, file))
  }

  async create(place: ScratchPlace): Promise<ScratchHandle> {
    const path = await this.#ready(place)
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC
    const create = async () => {
      const handle = await withLocalFailures(open(path, flags, 0o600))
      return this.#opened(handle, place, this.#known(place) ?? this.#fresh(place))
    }
    // Behind a move of the file that is there: the name is free then.
    return this.#known(place)?.turns.take('', create) ?? create()
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
   * Moves the file over a record, by handing its text to `put`; what is written to it meanwhile waits, and is refused then, for it
   * would be lost. `isUnread`: it was moved here and no program has opened it since, as far as this mount knows.
   */
  async moveOver(
    place: ScratchPlace,
    put: (text: Uint8Array, isUnread: boolean) => Promise<void>,
  ): Promise<void> {
    const file = this.#at(place)
    await file.turns.take('', async () => {
      await put(await withLocalFailures(readFile(this.#pathOf(place))), !file.isMet)
      file.isOver = true
      await this.remove(place)
    })
  }

  /** Puts a text under this name for good, replacing what was there. */
  async put(place: ScratchPlace, text: Uint8Array, isUnread: boolean): Promise<void> {
    // Another file: a program that has the one of before open writes nothing into this text.
    await withLocalFailures(replaceFile(await this.#ready(place), text))
    this.#fresh(place).isMet = !isUnread
  }

  /** Through a handle: the file is the same one, in turn with its other changes and its move. */
  async truncate(place: ScratchPlace, size: ByteOffset): Promise<void> {
    const file = await this.open(place)
    await file.truncate(size).finally(() => file.release())
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

  link(place: ScratchPlace, to: string): void {
    this.#name(place, to)
  }

  unlink({ directory, name }: ScratchPlace): void {
    this.#files.get(directory)?.delete(name)
  }

  #pathOf({ directory, name }: ScratchPlace): string {
    return join(this.root, directory, escapeTitle(name))
  }

  async #ready(place: ScratchPlace): Promise<string> {
    await makeDirectory(join(this.root, place.directory)).catch(rethrow)
    return this.#pathOf(place)
  }

  #known({ directory, name }: ScratchPlace): LocalFile | undefined {
    const known = this.#files.get(directory)?.get(name)
    return typeof known === 'string' ? undefined : known
  }

  #at(place: ScratchPlace): LocalFile {
    const known = this.#known(place)
    if (known === undefined) throw isGone()
    return known
  }

  #fresh(place: ScratchPlace): LocalFile {
    return this.#name(place, { isMet: false, isOver: false, turns: new Turns() })
  }

  #name<File extends LocalFile | string>({ directory, name }: ScratchPlace, file: File): File {
    this.#files.set(directory, (this.#files.get(directory) ?? new Map()).set(name, file))
    return file
  }

  #opened(handle: FileHandle, { directory }: ScratchPlace, file: LocalFile): ScratchHandle {
    file.isMet = true
    return new ScratchHandle(handle, file, join(this.root, directory))
  }
}

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
    await this.file.turns.take('', async () => {
      if (this.file.isOver) throw new Failure('conflict', 'this file was moved over a record')
      await work().catch(rethrow)
    })
  }
}

const dentry = (place: ScratchPlace, file: LocalFile | string): Dentry => ({
  name: place.name,
  node: typeof file === 'string' ? { kind: 'link', to: file, place } : { kind: 'scratch', place },
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
