// One text that a program is writing, on disk from its first byte: what was answered survives any crash.
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { asFailure, Failure } from '../failure.js'
import type { Instant } from '../remote/remote.js'
import { privateFile, replaceFile, syncDirectory } from './files.js'
import type { RecordKey } from './key.js'
import { type DraftMeta, printMeta } from './meta.js'
import { nobody } from './owner.js'

/** No record is that long; a wrong `cp` must neither fill the disk nor keep the parser busy for long. In bytes. */
export const largestDraft = 4 * 1024 * 1024

/** What of the note may change; an `undefined` takes a part away. */
export type MetaChange = {
  [Part in keyof Omit<DraftMeta, 'owner' | 'created' | 'changed'>]?: DraftMeta[Part] | undefined
}

/** Positions and lengths are in bytes. Every change is answered once it is in the file. */
export interface Draft {
  readonly id: string
  readonly directory: string
  /** Undefined where the note beside the text was damaged. */
  readonly key: RecordKey | undefined
  readonly meta: DraftMeta
  readonly size: number
  /** @throws Failure 'no-space' (what was written before stays), 'too-large' */
  write(bytes: Uint8Array, offset: number): Promise<void>
  truncate(size: number): Promise<void>
  /** Another whole text takes the place of the bytes, and no write comes between; `keep` has what was there before. */
  replace(bytes: Uint8Array, keep: (before: Uint8Array) => Promise<void>): Promise<void>
  /** Fewer bytes than asked for only at the end. */
  read(offset: number, length: number): Promise<Uint8Array>
  /** @throws Failure 'not-json' for bytes that are not UTF-8 */
  text(): Promise<string>
  /** Text and names are on the platter afterwards. */
  sync(): Promise<void>
  /** The new note holds in memory at once, and is on disk for good when this returns. */
  change(part: MetaChange): Promise<void>
  /** Another text of the same record, to compare with, beside the draft. */
  keepTheirs(text: string): Promise<void>
  /** Ends the draft and removes its text. */
  discard(): Promise<void>
  /** Closes the file and leaves everything on disk. */
  close(): Promise<void>
  /** The same at the end of a daemon: from now on it is nobody's, and the next mount may adopt it. */
  leave(): Promise<void>
}

/** The draft whose `text` lies in this directory. */
export async function openDraft(directory: string, found: DraftMeta, now: () => Instant): Promise<Draft> {
  const file = await open(join(directory, 'text'), 'r+', privateFile)
  const inOrder = pLimit(1)
  let meta = found
  let ended = false
  let { size } = await file.stat()

  async function write(bytes: Uint8Array, offset: number): Promise<void> {
    refuseLength(offset + bytes.length)
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await file
        .write(bytes, done, bytes.length - done, offset + done)
        .catch(rethrow)
      done += bytesWritten
      size = Math.max(size, offset + done)
    }
  }

  async function truncate(length: number): Promise<void> {
    refuseLength(length)
    await file.truncate(length).catch(rethrow)
    size = length
  }

  async function read(offset: number, length: number): Promise<Uint8Array> {
    if (ended) throw new Failure('absent', 'this draft was saved or given up meanwhile')
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
    let done = 0
    while (done < bytes.length) {
      const { bytesRead } = await file.read(bytes, done, bytes.length - done, offset + done)
      if (bytesRead === 0) break
      done += bytesRead
    }
    return bytes.subarray(0, done)
  }

  async function change(part: MetaChange): Promise<void> {
    meta = withChange(meta, part, now())
    await replaceFile(join(directory, 'meta.json'), printMeta(meta))
  }

  async function discard(): Promise<void> {
    if (ended) return
    ended = true
    await file.close()
    await rm(directory, { recursive: true, force: true })
    await syncDirectory(join(directory, '..'))
  }

  return {
    id: directory.slice(directory.lastIndexOf('/') + 1),
    directory,
    get key() {
      return meta.key
    },
    get meta() {
      return meta
    },
    get size() {
      return size
    },
    write: (bytes, offset) => inOrder(() => write(bytes, offset)),
    truncate: length => inOrder(() => truncate(length)),
    replace: (bytes, keep) =>
      inOrder(async () => {
        if (size > 0) await keep(await read(0, size))
        await truncate(0)
        await write(bytes, 0)
      }),
    read: (offset, length) => inOrder(() => read(offset, length)),
    text: () => inOrder(async () => decoded(await read(0, size))),
    sync: () =>
      inOrder(async () => {
        await file.sync().catch(rethrow)
        await syncDirectory(directory)
      }),
    change: part => inOrder(() => change(part)),
    keepTheirs: text => inOrder(() => replaceFile(join(directory, 'theirs.json'), text)),
    discard: () => inOrder(discard),
    close: () => inOrder(() => file.close()),
    leave: () =>
      inOrder(async () => {
        if (ended) return
        ended = true
        meta = { ...meta, owner: nobody }
        await replaceFile(join(directory, 'meta.json'), printMeta(meta))
        await file.close()
      }),
  }
}

function withChange(meta: DraftMeta, part: MetaChange, now: Instant): DraftMeta {
  const { state = meta.state, ...optional } = part
  return { ...meta, ...optional, state, changed: now }
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

function rethrow(cause: unknown): never {
  throw asFailure(cause)
}
