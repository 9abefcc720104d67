// Download of one content: readers wait for exactly the bytes they requested, and no byte is requested twice.
import { Failure } from '../../../failure.js'
import type { ContentVersion, Instant } from '../../../remote/remote.js'
import type { UnfinishedFile } from '../store/blob-store.js'
import { type Checksum, sameChecksum, startChecksum } from '../store/checksum.js'
import { OtherLength, OtherVersion } from '../versions/contradiction.js'
import { fingerprintOf, isOther, type VersionFingerprint } from '../versions/versions.js'
import { type ChunkBuffer, type CompleteContent, openChunkBuffer } from './chunk-buffer.js'
import {
  type BodyFacts,
  openRangeScheduler,
  type Priority,
  type RangeSchedulerPorts,
} from './range-scheduler.js'
import { readResumably } from './resumable-body.js'

export interface DownloadPorts extends Pick<RangeSchedulerPorts, 'fetch' | 'ranges' | 'now'> {
  /** Whether parts of several answers may be put together. */
  readonly mayJump: () => boolean
  readonly create: () => Promise<UnfinishedFile>
  readonly discard: (unfinished: UnfinishedFile) => Promise<void>
  /** What the service said the length is, outside of this body. */
  readonly told: () => number | undefined
  /** Asks the service for the length once, so that `told` knows it where the service can tell. */
  readonly askLength: () => Promise<number | undefined>
  /** Its answers have contradicted each other a moment ago: a body alone does not tell its length. */
  readonly isRecent: () => boolean
  /** The version that was met before this download. */
  readonly versionBefore: () => VersionFingerprint | undefined
  /** So many bytes of it are on the disk or on the way there, told each MiB. */
  readonly grew: (bytes: number) => void
  /** Bytes of this version may be read from now on; undefined where no validator comes with them. */
  readonly met: (version: VersionFingerprint | undefined) => void
  /** Makes room on a full disk; false if there is nothing to give up. */
  readonly makeRoom: () => Promise<boolean>
  /** Beyond so many bytes it is not wanted; a reader that comes changes that. */
  readonly most: () => number
}

export interface Download {
  /** How many bytes readers may have. */
  readonly arrived: number
  /** The whole length as the service said it, or as counted. */
  readonly length: number | undefined
  /** When the last piece came. */
  readonly movedAt: Instant
  /** Nothing is asked for at the moment; what has arrived waits for readers. */
  readonly resting: boolean
  /** Everything has arrived; its proof and the disk are being waited for. */
  readonly completing: boolean
  /** What has arrived would be worth something if it was stopped now. */
  readonly canRest: boolean
  /** Settles once: with everything, or with why not (a Failure, `DiskRefused`, `PrefetchAbandoned`); the file is then discarded. */
  readonly whole: Promise<CompleteContent>
  /** As the first answer that has one names it. */
  readonly version: VersionFingerprint | undefined
  /** Asks for all of it, as far as it is not asked for. */
  fetchAll(priority: Priority): void
  /** Resolves when these bytes may be read, or there are no more; asks for them and for what is likely to follow. */
  reach(span: { readonly start: number; readonly end: number }, priority: Priority): Promise<void> | undefined
  lengthKnown(priority: Priority): Promise<number>
  /** The same bytes at once where they are in memory; undefined where something has to be waited for. */
  readNow(span: { readonly start: number; readonly end: number }, into: Uint8Array): number | undefined
  /** The bytes that have arrived, after `reach`. */
  read(offset: number, into: Uint8Array): Promise<number> | number
  /** Asks for no more for now; waiting readers hear why. */
  pause(reason: Failure): void
  stop(reason: Failure | PrefetchAbandoned): void
  /** It is over: what it holds in memory is given back, and a reader that comes for it looks elsewhere. */
  release(): void
}

/** A prefetched content turns out longer than was wanted, or is not wanted any more; no reader has come for it. */
export class PrefetchAbandoned extends Error {
  override readonly message = 'this content is not wanted any more'

  /** How long it is, or how much of it there is at least; 0 where it was called off. */
  constructor(readonly bytes: number) {
    super()
  }
}

interface Waiter {
  /** The byte it waits for first; undefined for the length. */
  readonly missing: () => number | undefined
  readonly ready: () => boolean
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

const countedEvery = 1 << 20

/** A content up to this is checked whole before any of it is given, where its head does not say its length. */
const heldBackBytes = 1 << 20

type DownloadEnd = 'whole' | { readonly reason: unknown }

/** Asks for nothing until it is read or `fetchAll` is called. */
export function startDownload(ports: DownloadPorts): Download {
  const waiting = new Set<Waiter>()
  let length: number | undefined
  /** The head of an answer has said the length. */
  let isDeclared = false
  /** Nothing is given before so many bytes, or all, have come. */
  let heldBack = 0
  /** No reader gets it before it was compared with a second copy. */
  let isPage = false
  /** The service is asked for the length that no head says. */
  let asking: Promise<unknown> | undefined
  let isAsking = false
  let counted = 0
  let version: ContentVersion | undefined
  let print: VersionFingerprint | undefined
  let completing = false
  let ended: DownloadEnd | undefined
  let settle: { readonly whole: (whole: CompleteContent) => void; readonly failed: (reason: unknown) => void }
  const whole = new Promise<CompleteContent>((resolve, reject) => {
    settle = { whole: resolve, failed: reject }
  })
  whole.catch(() => {
    // Each reader gets it, and so does the store.
  })

  const known = () => length ?? ports.told()
  const buffer: ChunkBuffer = openChunkBuffer({ ...ports, length: known, lost: fail })
  const scheduler = openRangeScheduler({
    ...ports,
    buffer,
    length: known,
    version: () => version,
    arriving,
    bodyStarted: begun,
    counted: tellLength,
    received: took,
    complete,
    failed,
  })

  function fail(reason: unknown): void {
    if (ended !== undefined) return
    ended = { reason }
    scheduler.stop()
    for (const waiter of waiting) waiter.reject(reason)
    waiting.clear()
    buffer.discard()
    settle.failed(reason)
  }

  function wake(): void {
    for (const waiter of waiting) {
      if (!waiter.ready()) continue
      waiting.delete(waiter)
      waiter.resolve()
    }
  }

  const isWhole = () => ended === 'whole'
  const isBelieved = () =>
    !isPage && !isAsking && (isDeclared || ports.told() !== undefined) && buffer.arrived.bytes >= heldBack
  const lengthIsSure = () => length !== undefined && (isWhole() || isBelieved())
  const has = (start: number, end: number) =>
    isWhole() || (isBelieved() && buffer.arrived.reach(start) >= Math.min(end, length ?? end))

  function until(wanted: Pick<Waiter, 'missing' | 'ready'>): Promise<void> {
    if (ended !== undefined && ended !== 'whole') return Promise.reject(ended.reason)
    return new Promise((resolve, reject) => waiting.add({ ...wanted, resolve, reject }))
  }

  function arriving(body: Parameters<RangeSchedulerPorts['arriving']>[0]): void {
    const arrived = fingerprintOf(body.version)
    if (isOther(print ?? ports.versionBefore(), arrived))
      throw new OtherVersion(body.length === undefined || body.length === known())
    version ??= body.version
    print ??= arrived
  }

  /** @throws OtherLength where another source has told another length: nothing here tells which of them is right */
  function refuseOther(bytes: number): void {
    const told = ports.told()
    if (told !== undefined && told !== bytes) throw new OtherLength(told, bytes)
  }

  function tellLength(bytes: number): void {
    if (length !== undefined && length !== bytes) throw new OtherLength(length, bytes)
    refuseOther(bytes)
    if (length !== undefined) return
    length = bytes
    wake()
    refuseUnwanted(bytes)
  }

  function refuseUnwanted(bytes: number): void {
    if (bytes > ports.most()) throw new PrefetchAbandoned(bytes)
  }

  function begun(body: BodyFacts): void {
    if (ended !== undefined && ended !== 'whole') throw ended.reason
    isPage ||= body.ends === 'twice'
    if (known() === undefined && (body.length === undefined || ports.isRecent())) askLength()
    isDeclared ||= body.length !== undefined
    if (body.length === undefined && !body.isPart) heldBack = heldBackBytes
    if (body.length !== undefined) tellLength(body.length)
    ports.met(print)
  }

  function askLength(): void {
    if (asking !== undefined) return
    isAsking = true
    asking = ports
      .askLength()
      .then(() => {
        isAsking = false
        if (length !== undefined) refuseOther(length)
        wake()
      })
      .catch(fail)
  }

  function took(): void {
    if (length === undefined) refuseUnwanted(buffer.arrived.bytes)
    if (buffer.arrived.bytes - counted >= countedEvery) {
      counted = buffer.arrived.bytes
      ports.grew(counted)
    }
    if (isBelieved() && waiting.size > 0) wake()
  }

  function complete(bytes: number): void {
    completing = true
    proven(bytes).then(result => {
      if (ended !== undefined) return
      ended = 'whole'
      wake()
      settle.whole(result)
    }, fail)
  }

  async function proven(bytes: number): Promise<CompleteContent> {
    await asking
    tellLength(bytes)
    const result = await buffer.finish(bytes)
    if (isPage || (!isDeclared && ports.told() === undefined)) await compareWithSecond(result.checksum)
    return result
  }

  /** A body of whose length nothing tells is believed if a second one is the same. */
  async function compareWithSecond(first: Checksum): Promise<void> {
    const prover = startChecksum()
    let compared = 0
    await scheduler.again(body =>
      readResumably(body, {
        begin: () => Promise.reject(new Failure('broken', 'a body of unknown length was lost')),
        position: () => compared,
        take: piece => {
          scheduler.moved()
          prover.add(piece)
          compared += piece.length
          return ended === undefined
        },
      }),
    )
    if (!sameChecksum(first, prover.finish())) {
      throw new Failure('broken', 'nothing tells the length of this file, and two downloads of it differ')
    }
  }

  const canRest = () =>
    ports.ranges.possible && ports.mayJump() && lengthIsSure() && buffer.arrived.bytes > 0 && isBelieved()

  /** What the disk or the service says of the content itself ends all; a lost connection only what waits for it. */
  function failed(reason: unknown): void {
    const passes = reason instanceof Failure && /^(timeout|unreachable|busy)$/.test(reason.kind)
    if (!passes || !canRest()) fail(reason)
    for (const waiter of waiting) {
      const missing = waiter.missing()
      if (missing !== undefined && scheduler.covers(missing)) continue
      waiting.delete(waiter)
      waiter.reject(reason)
    }
  }

  return {
    get arrived() {
      return isBelieved() || isWhole() ? buffer.arrived.bytes : 0
    },
    get length() {
      return lengthIsSure() ? length : undefined
    },
    get movedAt() {
      return scheduler.movedAt
    },
    get resting() {
      return ended === undefined && !scheduler.busy && !completing
    },
    get completing() {
      return isBelieved() && buffer.arrived.bytes >= (known() ?? Number.POSITIVE_INFINITY)
    },
    get canRest() {
      return canRest()
    },
    whole,
    get version() {
      return print
    },
    fetchAll(priority) {
      scheduler.fetchAll(priority)
    },
    reach({ start, end }, priority) {
      if (ended === undefined) scheduler.want({ start, end }, priority)
      if (has(start, end)) return undefined
      return until({ ready: () => has(start, end), missing: () => buffer.arrived.reach(start) })
    },
    async lengthKnown(priority) {
      if (!lengthIsSure()) scheduler.want({ start: 0, end: 0 }, priority)
      if (!lengthIsSure()) await until({ ready: lengthIsSure, missing: () => undefined })
      return length ?? 0
    },
    read(offset, into) {
      if (ended !== undefined && ended !== 'whole') throw ended.reason
      return buffer.read(offset, into.subarray(0, Math.max(0, buffer.arrived.reach(offset) - offset)))
    },
    readNow({ start, end }, into) {
      if (!isBelieved() || ended !== undefined || !has(start, end)) return undefined
      scheduler.want({ start, end }, 'user')
      return buffer.readNow(start, into.subarray(0, end - start))
    },
    pause: scheduler.pause,
    stop: fail,
    release: buffer.release,
  }
}
