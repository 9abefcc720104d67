// One content on its way: readers wait for exactly the bytes they asked for, and no byte is asked for twice.
import { Failure } from '../../../failure.js'
import type { Ask, ContentVersion, Instant } from '../../../remote/remote.js'
import type { Unfinished } from '../store/blob-store.js'
import { type Proof, sameProof, startProof } from '../store/checksum.js'
import { OtherLength, OtherVersion } from '../versions/contradiction.js'
import { type Fingerprint, fingerprintOf, type Versions } from '../versions/versions.js'
import { openSparse, type Sparse, type Whole } from './chunk-buffer.js'
import { type Begun, openSegments, type SegmentsPorts } from './range-scheduler.js'
import { takeToEnd } from './resumable-body.js'

type Lane = Ask['lane']

export interface DownloadPorts extends Pick<SegmentsPorts, 'fetch' | 'ranges' | 'mayJump' | 'now'> {
  readonly create: () => Promise<Unfinished>
  readonly discard: (unfinished: Unfinished) => Promise<void>
  /** What the service said the length is, outside of this body. */
  readonly told: () => number | undefined
  /** Asks the service for the length once, so that `told` knows it where the service can tell. */
  readonly askLength: () => Promise<number | undefined>
  readonly versions: Pick<Versions, 'differ' | 'counting'>
  /** The version that was met before this download. */
  readonly versionBefore: () => Fingerprint | undefined
  /** So many bytes of it are on the disk or on the way there, told each MiB. */
  readonly grew: (bytes: number) => void
  /** Bytes of this version may be read from now on. */
  readonly met: (version: Fingerprint) => void
  /** Makes room on a full disk; false if there is nothing to give up. */
  readonly makeRoom: () => Promise<boolean>
  /** Beyond so many bytes nobody wants it; a reader who comes changes that. */
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
  /** Settles once: with everything, or with why not (a Failure, `CannotKeep`, `NotWanted`); the file is then discarded. */
  readonly whole: Promise<Whole>
  /** As the first answer that has one names it. */
  readonly version: Fingerprint | undefined
  /** Asks for all of it, as far as it is not asked for. */
  fetchAll(lane: Lane): void
  /** Resolves when these bytes may be read, or there are no more; asks for them and for what is likely to follow. */
  reach(span: { readonly start: number; readonly end: number }, lane: Lane): Promise<void> | undefined
  lengthKnown(lane: Lane): Promise<number>
  /** The same bytes at once where they are in memory; undefined where something has to be waited for. */
  readNow(span: { readonly start: number; readonly end: number }, into: Uint8Array): number | undefined
  /** The bytes that have arrived, after `reach`. */
  read(offset: number, into: Uint8Array): Promise<number> | number
  /** Asks for no more for now; waiting readers hear why. */
  pause(reason: Failure): void
  stop(reason: Failure | NotWanted): void
}

/** A guess about what will be read turns out longer than its asker wants, or he has gone; no reader has come for it. */
export class NotWanted extends Error {
  override readonly message = 'nobody wants this content'

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

/** No error page is longer. */
const heldBackBytes = 1 << 20

const countedEvery = 1 << 20

type End = 'whole' | { readonly reason: unknown }

/** Asks for nothing until somebody reads or `fetchAll` is called. */
export function startDownload(ports: DownloadPorts): Download {
  const waiting = new Set<Waiter>()
  let length: number | undefined
  /** The end of what comes proves nothing: until it was compared with a second copy, nobody may have it. */
  let isDoubtful = false
  /** A body is held against what else the service says of its length. */
  let asking: Promise<unknown> | undefined
  let isAsking = false
  /** Of a body that does not say its length nothing is given before so many bytes, or all, have come. */
  let heldBack = 0
  let counted = 0
  let version: ContentVersion | undefined
  let print: Fingerprint | undefined
  let completing = false
  let ended: End | undefined
  let settle: { readonly whole: (whole: Whole) => void; readonly failed: (reason: unknown) => void }
  const whole = new Promise<Whole>((resolve, reject) => {
    settle = { whole: resolve, failed: reject }
  })
  whole.catch(() => {
    // Every reader hears it by himself, and so does who keeps it.
  })

  const known = () => length ?? ports.told()
  const sparse: Sparse = openSparse({ ...ports, length: known, lost: fail })
  const segments = openSegments({
    ...ports,
    sparse,
    length: known,
    version: () => ports.versions.counting(version),
    arriving,
    begun,
    took,
    complete,
    failed,
  })

  function fail(reason: unknown): void {
    if (ended !== undefined) return
    ended = { reason }
    segments.stop()
    for (const waiter of waiting) waiter.reject(reason)
    waiting.clear()
    sparse.discard()
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
  const isBelieved = () => !isDoubtful && !isAsking && sparse.arrived.bytes >= heldBack
  const lengthIsSure = () => length !== undefined && (isWhole() || isBelieved())
  const has = (start: number, end: number) =>
    isWhole() || (isBelieved() && sparse.arrived.reach(start) >= Math.min(end, length ?? end))

  function until(wanted: Pick<Waiter, 'missing' | 'ready'>): Promise<void> {
    if (ended !== undefined && ended !== 'whole') return Promise.reject(ended.reason)
    return new Promise((resolve, reject) => waiting.add({ ...wanted, resolve, reject }))
  }

  function arriving(now: ContentVersion | undefined): void {
    const arrived = fingerprintOf(now)
    const before = print ?? ports.versionBefore()
    if (ports.versions.differ(before, arrived)) throw new OtherVersion(before, now)
    version ??= now
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
    if (bytes > ports.most()) throw new NotWanted(bytes)
  }

  function begun(body: Begun): void {
    if (ended !== undefined && ended !== 'whole') throw ended.reason
    if (!body.proven && known() === undefined) isDoubtful = true
    if (body.length === undefined && !body.isPart)
      heldBack = body.wasPacked ? Number.POSITIVE_INFINITY : heldBackBytes
    if (known() === undefined) askLength()
    if (body.length !== undefined) tellLength(body.length)
    if (print !== undefined) ports.met(print)
  }

  /** The head of an answer and its body are one source: where no other has told the length, another is asked meanwhile. */
  function askLength(): void {
    if (asking !== undefined) return
    isAsking = true
    asking = ports
      .askLength()
      .then(() => {
        isAsking = false
        // The body claimed its length before the other source did: a stat that waits must not get that one.
        if (length !== undefined) refuseOther(length)
        wake()
      })
      .catch(fail)
  }

  function took(): void {
    if (length === undefined) refuseUnwanted(sparse.arrived.bytes)
    if (sparse.arrived.bytes - counted >= countedEvery) {
      counted = sparse.arrived.bytes
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

  async function proven(bytes: number): Promise<Whole> {
    await asking
    tellLength(bytes)
    const result = await sparse.finish(bytes)
    if (isDoubtful && ports.told() === undefined) await compareWithSecond(result.proof)
    return result
  }

  /** A body whose end proves nothing, and of whose length nothing else tells, is believed if a second one is the same. */
  async function compareWithSecond(first: Proof): Promise<void> {
    const prover = startProof()
    let compared = 0
    await segments.again(body =>
      takeToEnd(body, {
        begin: () => Promise.reject(new Failure('broken', 'a body whose end proves nothing was lost')),
        position: () => compared,
        take: piece => {
          segments.moved()
          prover.add(piece)
          compared += piece.length
          return ended === undefined
        },
      }),
    )
    if (!sameProof(first, prover.finish())) {
      throw new Failure('broken', 'two downloads of one unchanging file, neither provably whole, differ')
    }
  }

  const canRest = () =>
    ports.ranges.possible && ports.mayJump && lengthIsSure() && sparse.arrived.bytes > 0 && isBelieved()

  /** What the disk or the service says of the content itself ends all; a lost connection only what waits for it. */
  function failed(reason: unknown): void {
    const passes = reason instanceof Failure && /^(timeout|unreachable|busy)$/.test(reason.kind)
    if (!passes || !canRest()) fail(reason)
    for (const waiter of waiting) {
      const missing = waiter.missing()
      if (missing !== undefined && segments.covers(missing)) continue
      waiting.delete(waiter)
      waiter.reject(reason)
    }
  }

  return {
    get arrived() {
      return isBelieved() || isWhole() ? sparse.arrived.bytes : 0
    },
    get length() {
      return lengthIsSure() ? length : undefined
    },
    get movedAt() {
      return segments.movedAt
    },
    get resting() {
      return ended === undefined && !segments.busy && !completing
    },
    get completing() {
      return isBelieved() && sparse.arrived.bytes >= (known() ?? Number.POSITIVE_INFINITY)
    },
    get canRest() {
      return canRest()
    },
    whole,
    get version() {
      return print
    },
    fetchAll(lane) {
      segments.fetchAll(lane)
      if (ended === undefined && known() === undefined) askLength()
    },
    reach({ start, end }, lane) {
      if (ended === undefined) segments.want({ start, end }, lane)
      if (has(start, end)) return undefined
      return until({ ready: () => has(start, end), missing: () => sparse.arrived.reach(start) })
    },
    async lengthKnown(lane) {
      if (!lengthIsSure()) segments.want({ start: 0, end: 0 }, lane)
      if (!lengthIsSure()) await until({ ready: lengthIsSure, missing: () => undefined })
      return length ?? 0
    },
    read(offset, into) {
      if (ended !== undefined && ended !== 'whole') throw ended.reason
      return sparse.read(offset, into.subarray(0, Math.max(0, sparse.arrived.reach(offset) - offset)))
    },
    readNow({ start, end }, into) {
      if (!isBelieved() || ended !== undefined || !has(start, end)) return undefined
      segments.want({ start, end }, 'user')
      return sparse.readNow(start, into.subarray(0, end - start))
    },
    pause: segments.pause,
    stop: fail,
  }
}
