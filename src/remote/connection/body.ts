// Completeness of an answer's body: its bytes are counted against what its head claims, before and after decoding.
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { Failure } from '../../failure.js'
import { longBytes } from '../../record/compact/long-bytes.js'
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

/** The decoded pieces of a body, in order; ends only where the claims are kept. @throws Failure while iterated */
export function wholePieces(
  bytes: IncomingBytes,
  declared: DeclaredBody,
  flow: FlowControl,
): AsyncIterable<Uint8Array> {
  const received = countedPieces(bytes, declared, flow)
  if (declared.encoding === 'none') return received
  const decoder = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    declared.encoding
  ]()
  // Errors of either side reach the reader through the decoder, which the pipeline destroys with them.
  pipeline(Readable.from(received, { objectMode: false }), decoder, () => {})
  return decodedPieces(decoder)
}

/** No generator: most bodies are a single piece, and each step of a generator costs several turns of promises. */
function countedPieces(
  bytes: IncomingBytes,
  declared: DeclaredBody,
  flow: FlowControl,
): AsyncIterableIterator<Uint8Array> {
  let count = 0
  let isOver = false

  async function received(): Promise<Uint8Array | undefined> {
    try {
      const coming = bytes.next()
      if (!(coming instanceof Promise)) return coming
      const arrived = flow.expectPiece()
      return await coming.finally(arrived)
    } catch (thrown) {
      throw truncatedBodyFailure(thrown, count)
    }
  }

  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (isOver) return { done: true, value: undefined }
    // Until a piece is there to be given: whatever else happens is the end.
    isOver = true
    const piece = await received().catch(thrown => {
      bytes.destroy()
      throw thrown
    })
    count += piece?.length ?? 0
    const isTooMuch = declared.length !== undefined && count > declared.length
    if (piece !== undefined && !isTooMuch) {
      await flow.spend(piece.length)
      isOver = false
      return { done: false, value: piece }
    }
    bytes.destroy()
    if (declared.length !== undefined && count !== declared.length)
      throw new Failure('broken', `the answer claimed ${declared.length} bytes and had ${count}`)
    return { done: true, value: undefined }
  }

  const pieces: AsyncIterableIterator<Uint8Array> = {
    next,
    async return() {
      isOver = true
      bytes.destroy()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => pieces,
  }
  return pieces
}

async function* decodedPieces(decoder: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* decoder
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    throw new Failure('broken', 'the compressed answer could not be decoded', { cause: thrown })
  }
}

/** All pieces as one, put where they belong as they come if the length is expected; @throws Failure 'broken' beyond the limit in bytes */
export async function collectBytes(
  pieces: AsyncIterable<Uint8Array>,
  { limit, expected }: { limit: number; expected: number | undefined },
): Promise<Buffer> {
  if (expected === undefined || expected > limit) return concatPieces(withByteLimit(pieces, limit))
  const whole = longBytes(expected)
  let length = 0
  for await (const piece of withByteLimit(pieces, expected)) {
    whole.set(piece, length)
    length += piece.length
  }
  return whole.subarray(0, length)
}

async function concatPieces(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts)
}

/** The same pieces; @throws Failure 'broken' beyond the limit in bytes */
export async function* withByteLimit(
  pieces: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let count = 0
  for await (const piece of pieces) {
    count += piece.length
    if (count > limit)
      throw new Failure('broken', `the answer is larger than the ${limit} bytes allowed here`)
    yield piece
  }
}

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
