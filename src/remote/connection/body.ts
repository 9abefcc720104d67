// Body of an answer: what its head claims of it, its bytes in one buffer, or piece by piece, received only as fast as they are read.
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { Failure } from '../../failure.js'
import type { Exchange } from './exchange.js'

export interface DeclaredBody {
  /** Content-Length: bytes on the wire. */
  readonly length: number | undefined
  readonly ends: 'proven' | 'unproven'
  /** A content encoding, none of which is ever requested. */
  readonly packed: string | undefined
  /** Media type in lower case without parameters, '' if none. */
  readonly mediaType: string
  readonly charset: string
}

/** @throws Failure 'broken' if the head contradicts itself or names a transfer coding that was not requested */
export function declaredBody(headers: IncomingHttpHeaders): DeclaredBody {
  const length = contentLength(headers['content-length'])
  const coding = headers['transfer-encoding']
  const chunked = coding !== undefined && isChunked(single(coding))
  const { mediaType, charset } = mediaTypeIn(single(headers['content-type']))
  const packing = headers['content-encoding']
  const encoding = packing === undefined ? '' : single(packing).trim().toLowerCase()
  return {
    length,
    ends: length !== undefined || chunked ? 'proven' : 'unproven',
    packed: encoding === '' || encoding === 'identity' ? undefined : encoding,
    mediaType,
    charset,
  }
}

function mediaTypeIn(header: string): Pick<DeclaredBody, 'mediaType' | 'charset'> {
  const end = header.indexOf(';')
  if (end < 0) return { mediaType: header.trim().toLowerCase(), charset: 'utf-8' }
  return {
    mediaType: header.slice(0, end).trim().toLowerCase(),
    charset: /;\s*charset="?([^\s";]+)/i.exec(header)?.[1] ?? 'utf-8',
  }
}

/** All pieces of a body as one; where it fits into one piece, that piece itself. */
export class CollectedBytes {
  length = 0
  readonly #pieces: Uint8Array[] = []

  add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.length += piece.length
  }

  get bytes(): Buffer {
    const [first, ...more] = this.#pieces
    if (first === undefined || more.length > 0) return Buffer.concat(this.#pieces, this.length)
    return Buffer.from(first.buffer, first.byteOffset, first.length)
  }
}

export const tooManyBytes = (limit: number): Failure =>
  new Failure('broken', `the answer is larger than the ${limit} bytes allowed here`)

function contentLength(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const length = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : Number.NaN
  if (!Number.isSafeInteger(length)) throw new Failure('broken', `the answer claims a length of "${header}"`)
  return length
}

/** @throws Failure 'broken' for any other transfer coding: its bytes are not those of the file */
function isChunked(header: string): boolean {
  const coding = header.trim().toLowerCase()
  if (coding === '' || coding === 'identity') return false
  if (coding === 'chunked') return true
  throw new Failure('broken', `the answer is transferred as "${coding}", which was not requested`)
}

const single = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? header.join(', ') : (header ?? '')

/** How much of a body may wait in memory for its reader. */
const waitingBytes = 256 * 1024

interface Reader {
  readonly resolve: (piece: IteratorResult<Uint8Array, undefined>) => void
  readonly reject: (reason: Error) => void
}

const over: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined }

/** One reader at a time; `push`, `end` and `fail` are for the connection. No generator: each step of one costs several turns of promises. */
export class BodyStream implements AsyncIterableIterator<Uint8Array> {
  #state: 'coming' | 'ended' | 'failed' = 'coming'
  #reason: Error | undefined
  #reader: Reader | undefined
  readonly #pieces: Uint8Array[] = []
  #queued = 0
  #isPaused = false

  constructor(private readonly exchange: Pick<Exchange, 'abort' | 'pause' | 'resume'>) {}

  /** The next piece; rejects with why no more comes. */
  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) {
      this.#queued -= piece.length
      this.#setPaused()
      return Promise.resolve({ done: false, value: piece })
    }
    if (this.#state === 'ended') return Promise.resolve(over)
    if (this.#state === 'failed') return Promise.reject(this.#reason)
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.cancel()
    return over
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  cancel(): void {
    const reason = new Error('the reader stopped')
    this.#pieces.length = 0
    this.#queued = 0
    this.fail(reason)
    this.exchange.abort(reason)
  }

  push(piece: Uint8Array): void {
    if (this.#state !== 'coming' || piece.length === 0) return
    const waiting = this.#reader
    this.#reader = undefined
    if (waiting === undefined) {
      this.#pieces.push(piece)
      this.#queued += piece.length
      this.#setPaused()
    } else waiting.resolve({ done: false, value: piece })
  }

  end(): void {
    if (this.#state !== 'coming') return
    this.#state = 'ended'
    this.#reader?.resolve(over)
  }

  /** Bytes that came before are still read. */
  fail(why: Error): void {
    if (this.#state !== 'coming') return
    this.#state = 'failed'
    this.#reason = why
    this.#reader?.reject(why)
  }

  #setPaused(): void {
    const isFull = this.#queued >= waitingBytes
    if (isFull === this.#isPaused) return
    this.#isPaused = isFull
    if (isFull) this.exchange.pause()
    else this.exchange.resume()
  }
}
