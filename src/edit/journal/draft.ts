// Draft: one text that a program is writing, on disk from its first byte; what was acknowledged survives any crash.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { type Instant, instant } from '../../remote/remote.js'
import {
  makeDirectory,
  placeFiles,
  privateDirectory,
  replaceFile,
  syncDirectory,
  synced,
} from '../../system/own-file.js'
import { type DraftMeta, damageOf, lossWhy, type MetaChange, printMeta, sealOf } from './draft-meta.js'
import { noOwner, Turns } from './lock.js'
import type { RecordKey } from './record-key.js'
import { textHash } from './text-history.js'

/** In bytes: four times the longest record that is read, for a text in print is longer than the answer. A wrong `cp` must not fill the disk. */
const largestDraft = 64 * 1024 * 1024

interface DraftKeeper {
  changed(): void
  ended(): void
  /** Takes a text that could not be saved, before it is written over. */
  keep(key: RecordKey, bytes: Uint8Array): MaybePromise<void>
}

/**
 * Text and note of a new draft in its directory: built aside, so that none exists without its note; all of it survives a power cut.
 * @throws Failure after which nothing is left of the attempt
 */
export async function placeDraft(directory: string, text: Uint8Array, meta: DraftMeta): Promise<void> {
  const root = dirname(directory)
  const aside = join(root, `.${randomUUID()}`)
  try {
    refuseLength(text.length)
    // The state directory may have been deleted while it is mounted.
    if (!existsSync(root)) await makeDirectory(root)
    mkdirSync(aside, { mode: privateDirectory })
    const files = { text, 'meta.json': printMeta(meta) }
    await placeFiles(new Map(Object.entries(files).map(([name, file]) => [join(aside, name), file])))
    await syncDirectory(aside)
    renameSync(aside, directory)
  } catch (thrown) {
    rmSync(aside, { recursive: true, force: true })
    throw asFailure(thrown)
  }
  await syncDirectory(root)
}

/** Positions and lengths are in bytes. Every change is answered once it is in the file: only the wait for the disk leaves this thread. */
export class Draft {
  readonly id: string
  keeper: DraftKeeper | undefined
  readonly #now: () => Instant
  readonly #turns = new Turns()
  #file: number
  #meta: DraftMeta
  #size: number
  #written: Instant
  #damage: string | undefined
  #ended = false

  /** The draft whose `text` lies in this directory. @throws the errors of the disk */
  constructor(
    readonly directory: string,
    found: DraftMeta,
    now: () => Instant,
  ) {
    this.id = lastNameOf(directory)
    this.#now = now
    this.#file = openSync(join(directory, 'text'), 'r+')
    const { size, mtimeMs } = fstatSync(this.#file)
    this.#size = size
    this.#meta = found
    // A text without a checksum was written after its note: then the file says when.
    const { sealed, written = Math.floor(mtimeMs) } = found
    this.#written = instant(sealed === undefined ? Math.floor(mtimeMs) : written)
    this.#damage = damageOf(directory, found, this.#raw(0, size))
    if (this.#damage !== undefined) this.#meta = { ...found, why: lossWhy(this.#damage) }
  }

  /** Undefined where the note beside the text was damaged. */
  get key(): RecordKey | undefined {
    return this.#meta.key
  }

  get meta(): DraftMeta {
    return this.#meta
  }

  get size(): number {
    return this.#size
  }

  /** When its text was written last, whatever became of it since: also by a daemon of before. */
  get written(): Instant {
    return this.#written
  }

  /** The disk has lost bytes of the text: it is nothing that its writer wrote. In a sentence. */
  get damage(): string | undefined {
    return this.#damage
  }

  /** @throws Failure 'no-space' (what was written before stays), 'too-large' */
  write(bytes: Uint8Array, offset: number): MaybePromise<void> {
    const kept = offset < this.#size ? this.#keepUnsaved() : undefined
    return chain(kept, () => this.#turns.take('', () => this.#write(bytes, offset)))
  }

  truncate(size: number): MaybePromise<void> {
    const kept = size < this.#size ? this.#keepUnsaved() : undefined
    return chain(kept, () => this.#turns.take('', () => this.#truncate(size)))
  }

  /** Another whole text takes the place of the bytes, and no write comes between; `keep` has what was there before. */
  replace(bytes: Uint8Array, keep: (before: Uint8Array) => MaybePromise<void>): MaybePromise<void> {
    return this.#turns.take('', () =>
      chain(this.#size > 0 ? keep(this.#raw(0, this.#size)) : undefined, () =>
        bytes.length === 0 ? this.#truncate(0) : this.#replaceWhole(bytes),
      ),
    )
  }

  /** Fewer bytes than asked for only at the end; while another text takes its place, that of before. @throws Failure 'broken' for a text that the disk has damaged */
  read(offset: number, length: number): Uint8Array {
    if (this.#meta.sealed === undefined && this.#damage === undefined) return this.#raw(offset, length)
    return this.#verified().subarray(offset, offset + length)
  }

  /** All of it, once a change that is under way has ended. */
  whole(): MaybePromise<Uint8Array> {
    return this.#turns.take('', () => this.read(0, this.#size))
  }

  /** @throws Failure 'not-json' for bytes that are not UTF-8 */
  text(): string {
    return decoded(this.#verified())
  }

  remains(): MaybePromise<Uint8Array> {
    return this.#turns.take('', () => this.#raw(0, this.#size))
  }

  /** The hash of the text that waits: a program has emptied it, and has written no other. */
  get emptied(): string | undefined {
    return this.#size === 0 ? this.#meta.emptied : undefined
  }

  /** The hash of the text as it was written, which a damaged one still has where it was noted. */
  hash(): string {
    return this.#meta.sealed?.hash ?? textHash(this.#raw(0, this.#size))
  }

  /** Text, names and the checksum of the text are on the platter afterwards; on a full disk all but the checksum. */
  seal(): Promise<void> {
    return this.#turns.take('', async () => {
      await this.#restored()
      await synced(this.#open).catch(rethrow)
      await syncDirectory(this.directory)
      await this.#change({}).catch(unlessFull)
    })
  }

  /** The new note holds in memory at once, and is on disk for good when this returns. */
  change(part: MetaChange): Promise<void> {
    return this.#turns.take('', () => this.#change(part))
  }

  /** In memory alone until the next change: after a crash the note of before stands, and the next mount finds out the same. */
  noteLater(part: MetaChange): void {
    const { state = this.#meta.state, ...optional } = part
    this.#meta = { ...this.#meta, ...optional, state, changed: this.#now(), written: this.#written }
  }

  /** The same of the text as well: before a request leaves, and where a save has failed. */
  commit(part: MetaChange): Promise<void> {
    return this.#turns.take('', () => this.#change(part, 'with the text'))
  }

  keepTheirs(text: string): Promise<void> {
    return this.#turns.take('', async () => {
      await this.#restored()
      await replaceFile(join(this.directory, 'theirs.json'), text).catch(rethrow)
    })
  }

  async discard(): Promise<void> {
    await this.#turns.take('', async () => {
      if (this.#ended) return
      this.#ended = true
      closeSync(this.#file)
      // Its files go one by one: under its own name a kill between would leave a text without its note.
      const gone = join(dirname(this.directory), `.gone-${this.id}`)
      if (existsSync(this.directory)) renameSync(this.directory, gone)
      rmSync(gone, { recursive: true, force: true })
      if (existsSync(dirname(this.directory))) await syncDirectory(dirname(this.directory)).catch(rethrow)
    })
    this.keeper?.ended()
  }

  close(): Promise<void> {
    return this.#turns.take('', async () => {
      if (!this.#ended) closeSync(this.#file)
      this.#ended = true
    })
  }

  /** The same at the end of a daemon: from now on it has no owner, and the next mount may adopt it. */
  leave(): Promise<void> {
    return this.#turns.take('', async () => {
      if (this.#ended) return
      await this.#restored()
      this.#ended = true
      this.#meta = { ...this.#meta, owner: noOwner, written: this.#written }
      await this.#note(this.#meta)
      closeSync(this.#file)
    })
  }

  /** An unsaved text that is written over now: as it stands before the first write, which breaks its seal. */
  #keepUnsaved(): MaybePromise<void> {
    const { sealed, state, key } = this.#meta
    if (sealed === undefined || state === 'editing' || key === undefined) return
    return this.keeper?.keep(key, this.#raw(0, this.#size))
  }

  #write(bytes: Uint8Array, offset: number): MaybePromise<void> {
    refuseLength(offset + bytes.length)
    if (this.#meta.sealed !== undefined) this.#verified()
    return chain(this.#unsealed(), () => {
      this.#written = this.#now()
      onDisk(() => {
        for (let done = 0; done < bytes.length; ) {
          done += writeSync(this.#open, bytes, done, bytes.length - done, offset + done)
          this.#size = Math.max(this.#size, offset + done)
        }
      })
    })
  }

  #truncate(length: number): MaybePromise<void> {
    refuseLength(length)
    if (length > 0 && this.#meta.sealed !== undefined) this.#verified()
    return chain(this.#unsealed(), () => {
      onDisk(() => ftruncateSync(this.#open, length))
      this.#written = this.#now()
      this.#size = length
      if (length === 0) this.#undamaged()
    })
  }

  /** Beside the old one and moved into its place: a disk that is full leaves the text of before, never a cut one. */
  async #replaceWhole(bytes: Uint8Array): Promise<void> {
    refuseLength(bytes.length)
    await this.#unsealed()
    await replaceFile(join(this.directory, 'text'), bytes).catch(rethrow)
    this.#reopen()
    this.#written = this.#now()
    this.#size = bytes.length
    this.#undamaged()
  }

  #undamaged(): void {
    if (this.#damage === undefined) return
    this.#damage = undefined
    this.#meta = { ...this.#meta, why: undefined }
  }

  #reopen(): void {
    onDisk(() => {
      const file = openSync(join(this.directory, 'text'), 'r+')
      closeSync(this.#file)
      this.#file = file
    })
  }

  /** The number of its file, which is another file's once this one has ended. */
  get #open(): number {
    if (this.#ended) throw new Failure('absent', 'this draft was saved or given up meanwhile')
    return this.#file
  }

  #raw(offset: number, length: number): Uint8Array {
    const file = this.#open
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.#size - offset)))
    let done = 0
    onDisk(() => {
      for (let read = -1; done < bytes.length && read !== 0; done += read)
        read = readSync(file, bytes, done, bytes.length - done, offset + done)
    })
    return bytes.subarray(0, done)
  }

  #verified(): Uint8Array {
    const bytes = this.#raw(0, this.#size)
    // Without a checksum it is what a program is writing here: zeros are lost bytes only where a draft was found so.
    if (this.#meta.sealed !== undefined) this.#damage ??= damageOf(this.directory, this.#meta, bytes)
    if (this.#damage === undefined) return bytes
    this.#meta = { ...this.#meta, why: lossWhy(this.#damage) }
    throw new Failure('broken', this.#damage)
  }

  /** Before the first change of a text of whose very bytes its note says something: a crash between the two leaves a text without a checksum. */
  #unsealed(): Promise<void> | undefined {
    const { sealed, unread, state } = this.#meta
    if (sealed === undefined && unread === undefined) return undefined
    const isWaiting = state !== 'editing' && this.#damage === undefined
    const free = { sealed: undefined, unread: undefined, emptied: isWaiting ? sealed?.hash : undefined }
    const noted = chain(this.#restored(), () => this.#note({ ...this.#meta, ...free }))
    return Promise.resolve(noted).then(() => {
      this.#meta = { ...this.#meta, ...free }
    })
  }

  async #change(part: MetaChange, how?: 'with the text'): Promise<void> {
    const wasSealed = this.#meta.sealed !== undefined
    this.noteLater(part)
    if (this.#damage !== undefined) this.#meta = { ...this.#meta, why: lossWhy(this.#damage) }
    else if (!wasSealed && this.#size > 0)
      this.#meta = { ...this.#meta, sealed: sealOf(this.#raw(0, this.#size)), emptied: undefined }
    try {
      const restored = this.#restored()
      if (restored !== undefined) await restored
      // The note's directory is synced behind it, and with it the name of the text.
      if (how === 'with the text') await synced(this.#open)
      await this.#note(this.#meta)
    } catch (thrown) {
      if (!wasSealed) this.#meta = { ...this.#meta, sealed: undefined }
      throw asFailure(thrown)
    }
    this.keeper?.changed()
  }

  #note(meta: DraftMeta): Promise<void> {
    return replaceFile(join(this.directory, 'meta.json'), printMeta(meta)).catch(rethrow)
  }

  /** Where its directory was deleted under the mount, the text is there still, behind the open file. */
  #restored(): Promise<void> | undefined {
    // False also where something else stands in the place of a directory above it, such as a link in a circle.
    return existsSync(join(this.directory, 'text')) ? undefined : this.#restore()
  }

  async #restore(): Promise<void> {
    const text = this.#raw(0, this.#size)
    if (existsSync(this.directory)) await replaceFile(join(this.directory, 'text'), text).catch(rethrow)
    else await placeDraft(this.directory, text, this.#meta)
    this.#reopen()
  }
}

function refuseLength(length: number): void {
  if (length > largestDraft) throw new Failure('too-large', 'no record is that long: the text is not kept')
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new Failure('not-json', 'the text is not JSON: it is not valid UTF-8', { cause })
  }
}

/** On a full disk the text is there all the same; only its note is that of before. */
export function unlessFull(thrown: unknown): void {
  if (asFailure(thrown).kind !== 'no-space') throw thrown
}

function onDisk<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (thrown) {
    throw asFailure(thrown)
  }
}
