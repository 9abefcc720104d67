// Completeness of an answer's body: its bytes are counted against what its head claims, before and after decoding.
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { Failure } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { IncomingBytes } from './incoming-bytes.js'
import { truncatedBodyFailure } from './network-errors.js'

/** What the head of an answer states about its body. */
export interface DeclaredBody {
  /** Content-Length: bytes on the wire. */
  readonly length: number | undefined
  readonly ends: 'proven' | 'unproven'
  readonly encoding: 'none' | 'gzip' | 'deflate' | 'br'
  /** Media type in lower case without parameters, '' if none. */
  readonly mediaType: string
  readonly charset: string
}

export interface TextLimits {
  /** Bytes of one answer. */
  readonly limit: number
  /** Called for each long answer that was read: the memory that earlier ones used may be given back. */
  long(bytes: number): void
}

/** How pieces are received: the longest wait for each, and the delay that each costs. */
export interface FlowControl {
  /** Starts to count the wait for the next piece; the answer ends it. */
  expectPiece(): () => void
  /** Resolves when the bandwidth allows the next piece; undefined where it does at once. */
  spend(bytes: number): Promise<void> | undefined
  /** For an answer that is read as a whole. */
  readonly text: TextLimits
}

/** @throws Failure 'broken' if the head contradicts itself or names an encoding that was not requested */
export function declaredBody(headers: IncomingHttpHeaders): DeclaredBody {
  const length = contentLength(headers['content-length'])
  const chunked = isChunked(single(headers['transfer-encoding']))
  const { mediaType, charset } = mediaTypeIn(single(headers['content-type']))
  return {
    length,
    ends: length !== undefined || chunked ? 'proven' : 'unproven',
    encoding: contentEncoding(single(headers['content-encoding'])),
    mediaType,
    charset,
  }
}

/** One answer after the other has the same. */
let lastType = { header: '', mediaType: '', charset: 'utf-8' }

function mediaTypeIn(header: string): Pick<DeclaredBody, 'mediaType' | 'charset'> {
  if (header !== lastType.header)
    lastType = {
      header,
      mediaType: header.split(';', 1).join('').trim().toLowerCase(),
      charset: /;\s*charset="?([^\s";]+)/i.exec(header)?.[1] ?? 'utf-8',
    }
  return lastType
}

/** The decoded pieces of a body, in order; they end only where the claims are kept. */
export interface Pieces extends AsyncIterable<Uint8Array> {
  /** The next piece, at once where it is there; undefined at the end. @throws Failure */
  take(): MaybePromise<Uint8Array | undefined>
}

export function wholePieces(bytes: IncomingBytes, declared: DeclaredBody, flow: FlowControl): Pieces {
  const received = new CountedPieces(bytes, declared, flow)
  if (declared.encoding === 'none') return received
  const decoder = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    declared.encoding
  ]()
  // Errors of either side reach the reader through the decoder, which the pipeline destroys with them.
  pipeline(Readable.from(received, { objectMode: false }), decoder, () => {})
  const pieces = decodedPieces(decoder)
  return { take: async () => (await pieces.next()).value, [Symbol.asyncIterator]: () => pieces }
}

/** No generator: most bodies are a single piece, and each step of a generator costs several turns of promises. */
class CountedPieces implements Pieces, AsyncIterableIterator<Uint8Array> {
  #count = 0
  #isOver = false

  constructor(
    private readonly bytes: IncomingBytes,
    private readonly declared: DeclaredBody,
    private readonly flow: FlowControl,
  ) {}

  take(): MaybePromise<Uint8Array | undefined> {
    if (this.#isOver) return undefined
    // Until a piece is there to be given: whatever else happens is the end.
    this.#isOver = true
    const coming = this.bytes.next()
    if (!(coming instanceof Promise)) return this.#counted(coming)
    const arrived = this.flow.expectPiece()
    return coming.then(
      piece => {
        arrived()
        return this.#counted(piece)
      },
      thrown => {
        arrived()
        this.bytes.destroy()
        throw truncatedBodyFailure(thrown, this.#count)
      },
    )
  }

  #counted(piece: Uint8Array | undefined): MaybePromise<Uint8Array | undefined> {
    const { length } = this.declared
    this.#count += piece?.length ?? 0
    const isTooMuch = length !== undefined && this.#count > length
    if (piece !== undefined && !isTooMuch)
      return chain(this.flow.spend(piece.length), () => {
        this.#isOver = false
        return piece
      })
    this.bytes.destroy()
    if (length !== undefined && this.#count !== length)
      throw new Failure('broken', `the answer claimed ${length} bytes and had ${this.#count}`)
    return undefined
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const taken = this.take()
    const value = taken instanceof Promise ? await taken : taken
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#isOver = true
    this.bytes.destroy()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

async function* decodedPieces(decoder: Readable): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* decoder
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    throw new Failure('broken', 'the compressed answer could not be decoded', { cause: thrown })
  }
  return undefined
}

/** All pieces as one, put where they belong as they come if the length is expected; @throws Failure 'broken' beyond the limit in bytes */
export async function collectBytes(
  pieces: Pieces,
  { limit, expected }: { limit: number; expected: number | undefined },
): Promise<Buffer> {
  const whole = expected === undefined || expected > limit ? undefined : Buffer.allocUnsafeSlow(expected)
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const coming = pieces.take()
    const piece = coming instanceof Promise ? await coming : coming
    if (piece === undefined) return whole?.subarray(0, length) ?? Buffer.concat(parts)
    if (length + piece.length > (whole?.length ?? limit)) throw tooManyBytes(limit)
    if (whole === undefined) parts.push(piece)
    else whole.set(piece, length)
    length += piece.length
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
  if (header === '') return false
  const coding = header.trim().toLowerCase()
  if (coding === '' || coding === 'identity') return false
  if (coding === 'chunked') return true
  throw new Failure('broken', `the answer is transferred as "${coding}", which was not requested`)
}

function contentEncoding(header: string): DeclaredBody['encoding'] {
  if (header === '') return 'none'
  const encoding = header
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip')
  if (encoding === '' || encoding === 'identity') return 'none'
  if (encoding === 'gzip' || encoding === 'deflate' || encoding === 'br') return encoding
  throw new Failure('broken', `the answer is encoded as "${encoding}", which was not requested`)
}

const single = (header: string | string[] | undefined): string =>
  Array.isArray(header) ? header.join(', ') : (header ?? '')
