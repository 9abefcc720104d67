// Body of a long answer while it arrives: piece by piece, received only as fast as it is read.
import type { Exchange } from './exchange.js'

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
  #reason = new Error('the body was given up')
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

  /** Ends the exchange, whatever has come. */
  cancel(): void {
    const reason = new Error('the reader stopped')
    this.#drop()
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

  /** What came before is still read. */
  fail(why: Error): void {
    if (this.#state !== 'coming') return
    this.#state = 'failed'
    this.#reason = why
    this.#reader?.reject(why)
  }

  #drop(): void {
    this.#pieces.length = 0
    this.#queued = 0
  }

  #setPaused(): void {
    const isFull = this.#queued >= waitingBytes
    if (isFull === this.#isPaused) return
    this.#isPaused = isFull
    if (isFull) this.exchange.pause()
    else this.exchange.resume()
  }
}
