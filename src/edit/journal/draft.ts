// Draft: one text that a program is writing, on disk from its first byte; what was acknowledged survives any crash.

import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { type Instant, instant } from '../../remote/remote.js'
import { codeOf, isMissing } from '../../system/error-code.js'
import { privateFile, replaceFile, syncDirectory } from '../../system/own-file.js'
import { placeDraft } from './draft-directory.js'
import { type DraftMeta, printMeta } from './draft-meta.js'
import { noOwner } from './owner.js'
import type { RecordKey } from './record-key.js'
import { damageOf, lossWhy, sealOf } from './seal.js'
import { textHash } from './text-history.js'

/**
 * In bytes: four times the longest record that is read, for a text in print is longer than the answer.
 * A wrong `cp` must not fill the disk.
 */
export const largestDraft = 64 * 1024 * 1024

/** What of the note may change; an `undefined` takes a part away. */
export type MetaChange = {
  [Part in keyof Omit<DraftMeta, 'owner' | 'created' | 'changed' | 'written' | 'sealed'>]?:
    | DraftMeta[Part]
    | undefined
}

/** Positions and lengths are in bytes. Every change is answered once it is in the file. */
export interface Draft {
  readonly id: string
  readonly directory: string
  /** Undefined where the note beside the text was damaged. */
  readonly key: RecordKey | undefined
  readonly meta: DraftMeta
  readonly size: number
  /** When its text was written last, whatever became of it since: also by a daemon of before. */
  readonly written: Instant
  /** The disk has lost bytes of the text: it is nothing that its writer wrote. In a sentence. */
  readonly damage: string | undefined
  /** @throws Failure 'no-space' (what was written before stays), 'too-large' */
  write(bytes: Uint8Array, offset: number): Promise<void>
  truncate(size: number): Promise<void>
  /** Another whole text takes the place of the bytes, and no write comes between; `keep` has what was there before. */
  replace(bytes: Uint8Array, keep: (before: Uint8Array) => Promise<void>): Promise<void>
  /** Fewer bytes than asked for only at the end. @throws Failure 'broken' for a text that the disk has damaged */
  read(offset: number, length: number): Promise<Uint8Array>
  /** All of it, as long as it is when its turn comes: a text that takes its place may be longer. */
  whole(): Promise<Uint8Array>
  /** @throws Failure 'not-json' for bytes that are not UTF-8 */
  text(): Promise<string>
  /** What is on the disk, damaged or not. */
  remains(): Promise<Uint8Array>
  /** The hash of the text as it was written, which a damaged one still has where it was noted. */
  hash(): Promise<string>
  /** Text and names are on the platter afterwards. */
  sync(): Promise<void>
  /** The same, and the checksum of the text as well. */
  seal(): Promise<void>
  /** The new note holds in memory at once, and is on disk for good when this returns. */
  change(part: MetaChange): Promise<void>
  /** Another text of the same record, to compare with, beside the draft. */
  keepTheirs(text: string): Promise<void>
  /** Ends the draft and removes its text. */
  discard(): Promise<void>
  /** Closes the file and leaves everything on disk. */
  close(): Promise<void>
  /** The same at the end of a daemon: from now on it has no owner, and the next mount may adopt it. */
  leave(): Promise<void>
}

/** The draft whose `text` lies in this directory. */
export async function openDraft(directory: string, found: DraftMeta, now: () => Instant): Promise<Draft> {
  let file = await open(join(directory, 'text'), 'r+', privateFile)
  const inOrder = pLimit(1)
  let meta = found
  let ended = false
  let { size } = await file.stat()
  let written = await lastWrite(file, found)
  let damage = damageOf(directory, found, await raw(0, size))
  if (damage !== undefined) meta = { ...meta, why: lossWhy(damage) }

  const note = (whole: DraftMeta): Promise<void> =>
    replaceFile(join(directory, 'meta.json'), printMeta(whole)).catch(rethrow)

  /** Before the first change of a text with a checksum: a crash between the two leaves a text without one. */
  async function unseal(): Promise<void> {
    if (meta.sealed === undefined && meta.unread === undefined) return
    await restore()
    const unsealed = { ...meta, sealed: undefined, unread: undefined }
    await note(unsealed)
    meta = unsealed
  }

  async function verify(): Promise<Uint8Array> {
    const bytes = await raw(0, size)
    // Without a checksum it is what a program is writing here: zeros are lost bytes only where a draft was found so.
    if (meta.sealed !== undefined) damage ??= damageOf(directory, meta, bytes)
    if (damage === undefined) return bytes
    meta = { ...meta, why: lossWhy(damage) }
    throw new Failure('broken', damage)
  }

  async function change(part: MetaChange): Promise<void> {
    const wasSealed = meta.sealed !== undefined
    meta = { ...withChange(meta, part, now()), written }
    if (damage !== undefined) meta = { ...meta, why: lossWhy(damage) }
    else if (meta.sealed === undefined && size > 0) meta = { ...meta, sealed: sealOf(await raw(0, size)) }
    try {
      await restore()
      await note(meta)
    } catch (thrown) {
      if (!wasSealed) meta = { ...meta, sealed: undefined }
      throw thrown
    }
  }

  async function write(bytes: Uint8Array, offset: number): Promise<void> {
    refuseLength(offset + bytes.length)
    if (meta.sealed !== undefined) await verify()
    await unseal()
    written = now()
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
    if (length > 0 && meta.sealed !== undefined) await verify()
    await unseal()
    await file.truncate(length).catch(rethrow)
    written = now()
    size = length
    if (length > 0 || damage === undefined) return
    damage = undefined
    meta = { ...meta, why: undefined }
  }

  /** Beside the old one and moved into its place: a disk that is full leaves the text of before, never a cut one. */
  async function replaceWhole(bytes: Uint8Array): Promise<void> {
    refuseLength(bytes.length)
    await unseal()
    await replaceFile(join(directory, 'text'), bytes).catch(rethrow)
    const replaced = await open(join(directory, 'text'), 'r+', privateFile)
    await file.close()
    file = replaced
    written = now()
    size = bytes.length
    if (damage === undefined) return
    damage = undefined
    meta = { ...meta, why: undefined }
  }

  async function raw(offset: number, length: number): Promise<Uint8Array> {
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

  async function readNow(offset: number, length: number): Promise<Uint8Array> {
    if (meta.sealed === undefined && damage === undefined) return raw(offset, length)
    return (await verify()).subarray(offset, offset + length)
  }

  /** Where its directory was deleted under the mount, the text is there still, behind the open file. */
  async function restore(): Promise<void> {
    if (await isThere(join(directory, 'text'))) return
    const text = await raw(0, size)
    if (await isThere(directory)) await replaceFile(join(directory, 'text'), text).catch(rethrow)
    else await placeDraft(directory, text, meta)
    const restored = await open(join(directory, 'text'), 'r+', privateFile)
    await file.close()
    file = restored
  }

  async function sync(): Promise<void> {
    await restore()
    await file.sync().catch(rethrow)
    await syncDirectory(directory)
  }

  async function discard(): Promise<void> {
    if (ended) return
    ended = true
    await file.close()
    await rm(directory, { recursive: true, force: true })
    await syncDirectory(join(directory, '..')).catch(unlessMissing)
  }

  return {
    id: lastNameOf(directory),
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
    get written() {
      return written
    },
    get damage() {
      return damage
    },
    write: (bytes, offset) => inOrder(() => write(bytes, offset)),
    truncate: length => inOrder(() => truncate(length)),
    replace: (bytes, keep) =>
      inOrder(async () => {
        if (size > 0) await keep(await raw(0, size))
        if (bytes.length === 0) await truncate(0)
        else await replaceWhole(bytes)
      }),
    read: (offset, length) => inOrder(() => readNow(offset, length)),
    whole: () => inOrder(() => readNow(0, size)),
    text: () => inOrder(async () => decoded(await verify())),
    remains: () => inOrder(() => raw(0, size)),
    hash: () => inOrder(async () => meta.sealed?.hash ?? textHash(await raw(0, size))),
    sync: () => inOrder(sync),
    seal: () =>
      inOrder(async () => {
        await sync()
        await change({}).catch(unnoted)
      }),
    change: part => inOrder(() => change(part)),
    keepTheirs: text =>
      inOrder(async () => {
        await restore()
        await replaceFile(join(directory, 'theirs.json'), text).catch(rethrow)
      }),
    discard: () => inOrder(discard),
    close: () => inOrder(() => file.close()),
    leave: () =>
      inOrder(async () => {
        if (ended) return
        await restore()
        ended = true
        meta = { ...meta, owner: noOwner, written }
        await note(meta)
        await file.close()
      }),
  }
}

/** A text without a checksum was written after its note: then the file says when. */
async function lastWrite(file: FileHandle, { sealed, written }: DraftMeta): Promise<Instant> {
  if (sealed !== undefined && written !== undefined) return instant(written)
  return instant(Math.floor((await file.stat()).mtimeMs))
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

/** On a full disk the text is durable all the same; only its checksum is not noted. */
function unnoted(thrown: unknown): void {
  if (asFailure(thrown).kind !== 'no-space') throw thrown
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (thrown) {
    // Something else may stand in the place of a directory above it, such as a link in a circle.
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(thrown) ?? '')) return false
    throw asFailure(thrown)
  }
}

function unlessMissing(thrown: unknown): undefined {
  if (!isMissing(thrown)) throw asFailure(thrown)
}
