// One streaming download: bytes go to a file piece by piece, and readers wait for exactly the bytes they asked for.
import { Failure } from '../failure.js'
import type { Body, ByteOffset, Instant } from '../remote/remote.js'
import { byteOffset } from '../remote/remote.js'
import type { Unfinished } from './blob-store.js'
import { type Proof, type Prover, sameProof, startProof } from './proof.js'
import { takeToEnd } from './taking.js'

export interface DownloadPorts {
  readonly fetch: (start: ByteOffset) => Promise<Body>
  readonly create: () => Promise<Unfinished>
  /** What the service said the length is, outside of this body. */
  readonly told: () => number | undefined
  /** Makes room on a full disk; false if there is nothing to give up. */
  readonly makeRoom: () => Promise<boolean>
  /** Beyond so many bytes nobody wants it; a reader who comes changes that. */
  readonly most: () => number
  readonly now: () => Instant
}

/** Every byte is in the file, and its end was proven. */
export interface Whole {
  readonly unfinished: Unfinished
  readonly proof: Proof
}

export interface Download {
  /** Bytes from the start that readers may have, in bytes. */
  readonly arrived: number
  /** The whole length as the service said it, or as counted. */
  readonly length: number | undefined
  /** When the last piece came. */
  readonly movedAt: Instant
  /** Settles once: with everything, or with why not (a Failure, or `CannotKeep`); the file is then discarded by `discard`. */
  readonly whole: Promise<Whole>
  /** Resolves when the bytes before `end` may be read, or there are no more. */
  reach(end: number): Promise<void>
  lengthKnown(): Promise<number>
  /** The bytes that have arrived, after `reach`. */
  read(offset: number, into: Uint8Array): Promise<number>
  stop(reason: Failure | NotWanted): void
}

/** The local disk takes no more of this content; the service can still be read. */
export class CannotKeep extends Error {
  override readonly message = 'the cache directory takes no more bytes'
}

/** Nothing a calculation holds is near this (the platform takes 1 GB); an endless body must end somewhere. */
const largestBytes = 64 * 2 ** 30

/** A guess about what will be read turns out longer than its asker wants, or he has gone; no reader has come for it. */
export class NotWanted extends Error {
  override readonly message = 'nobody wants this content'

  /** How long it is, or how much of it there is at least; 0 where it was called off. */
  constructor(readonly bytes: number) {
    super()
  }
}

interface Waiter {
  readonly ready: () => boolean
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** Begins at once. The file is never longer ahead of the readers than one piece: the next is pulled after the write. */
export function startDownload(
  ports: DownloadPorts,
  discard: (unfinished: Unfinished) => Promise<void>,
): Download {
  const waiting = new Set<Waiter>()
  let arrived = 0
  let length: number | undefined
  let movedAt = ports.now()
  let body: Body | undefined
  let unfinished: Unfinished | undefined
  let ended: 'whole' | { readonly reason: unknown } | undefined
  let stop: (reason: Failure | NotWanted) => void = () => {}

  const whole = new Promise<Whole>((resolve, reject) => {
    stop = reject
    receive().then(resolve, reject)
  })
  whole.then(finished, failed)

  function finished(): void {
    ended = 'whole'
    wake()
  }

  function failed(reason: unknown): void {
    ended = { reason }
    body?.cancel()
    for (const waiter of waiting) waiter.reject(reason)
    waiting.clear()
    if (unfinished !== undefined) void discard(unfinished)
  }

  function wake(): void {
    for (const waiter of waiting) {
      if (!waiter.ready()) continue
      waiting.delete(waiter)
      waiter.resolve()
    }
  }

  function until(ready: () => boolean): Promise<void> {
    if (ended !== undefined && ended !== 'whole') return Promise.reject(ended.reason)
    if (ready()) return Promise.resolve()
    return new Promise((resolve, reject) => waiting.add({ ready, resolve, reject }))
  }

  function moved(): void {
    throwIfStopped()
    movedAt = ports.now()
  }

  /** A length beside a body whose end proves nothing is no more proven than the body. */
  function lengthIsSure(): boolean {
    return length !== undefined && (ended === 'whole' || body?.ends === 'proven')
  }

  function throwIfStopped(): void {
    if (ended !== undefined && ended !== 'whole') throw ended.reason
  }

  async function begin(start: ByteOffset): Promise<Body> {
    const next = await ports.fetch(start)
    body = next
    if (ended !== undefined) next.cancel()
    throwIfStopped()
    movedAt = ports.now()
    return next
  }

  async function receive(): Promise<Whole> {
    const made = await ports.create().catch(cannotKeep)
    unfinished = made
    // Stopped while the file was being made: nobody else knows of it.
    if (ended !== undefined) await discard(made)
    throwIfStopped()
    const first = await begin(byteOffset(0))
    if (first.start !== 0) throw new Failure('broken', `the body begins at byte ${first.start}`)
    if (first.length !== undefined) tellLength(first.length)
    const prover = startProof()
    const proven = first.ends === 'proven'
    await takeToEnd(first, {
      begin,
      position: () => written,
      take: async piece => {
        moved()
        await append(made, prover, { piece, readable: proven })
      },
    })
    throwIfStopped()
    const proof = prover.finish()
    tellLength(proof.length)
    if (!proven) await compareWithSecond(proof)
    arrived = proof.length
    return { unfinished: made, proof }
  }

  /** Two lengths for one content: nothing tells which of them is right. */
  function tellLength(bytes: number): void {
    for (const told of [length, ports.told()]) {
      if (told === undefined || told === bytes) continue
      throw new Failure('broken', `the service said ${told} bytes and sent ${bytes}`)
    }
    length = bytes
    wake()
    refuseUnwanted(bytes)
  }

  function refuseUnwanted(bytes: number): void {
    if (bytes > ports.most()) throw new NotWanted(bytes)
  }

  let written = 0
  async function append(to: Unfinished, prover: Prover, next: Piece): Promise<void> {
    const end = written + next.piece.length
    if (end > (length ?? ports.told() ?? largestBytes)) {
      throw new Failure(
        'broken',
        `the service sends more than the ${length ?? ports.told() ?? largestBytes} bytes it should`,
      )
    }
    refuseUnwanted(end)
    await write(to, next.piece)
    prover.add(next.piece)
    written = end
    if (!next.readable) return
    arrived = end
    wake()
  }

  async function write(to: Unfinished, piece: Uint8Array): Promise<void> {
    try {
      await to.file.write(piece, written)
    } catch (error) {
      if (!(await ports.makeRoom())) throw cannotKeepFor(error)
      await to.file.write(piece, written).catch(cannotKeep)
    }
  }

  /** A body whose end proves nothing is believed if a second one is the same. */
  async function compareWithSecond(first: Proof): Promise<void> {
    const prover = startProof()
    let compared = 0
    await takeToEnd(await begin(byteOffset(0)), {
      begin,
      position: () => compared,
      take: async piece => {
        moved()
        prover.add(piece)
        compared += piece.length
      },
    })
    throwIfStopped()
    if (!sameProof(first, prover.finish())) {
      throw new Failure('broken', 'two downloads of one unchanging file, neither provably whole, differ')
    }
  }

  return {
    get arrived() {
      return arrived
    },
    get length() {
      return lengthIsSure() ? length : undefined
    },
    get movedAt() {
      return movedAt
    },
    whole,
    reach: end => until(() => ended === 'whole' || arrived >= end),
    async lengthKnown() {
      await until(lengthIsSure)
      return length ?? arrived
    },
    async read(offset, into) {
      throwIfStopped()
      const wanted = into.subarray(0, Math.max(0, Math.min(into.length, arrived - offset)))
      if (unfinished !== undefined) await unfinished.file.read(wanted, offset)
      return wanted.length
    },
    stop: reason => stop(reason),
  }
}

interface Piece {
  readonly piece: Uint8Array
  /** Whether readers may have it before the whole is compared. */
  readonly readable: boolean
}

const cannotKeepFor = (error: unknown) => new CannotKeep(undefined, { cause: error })

function cannotKeep(error: unknown): never {
  throw cannotKeepFor(error)
}
