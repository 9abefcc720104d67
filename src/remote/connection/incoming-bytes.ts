// Body of an answer while it arrives: a short one in one buffer of its stated length, a longer one piece by piece, as fast as it is read.
import type { Dispatcher } from 'undici'
import { lendMemory } from '../../lent-memory.js'
import type { MaybePromise } from '../../maybe-promise.js'

/** How much of a body may wait in memory for its reader; one that is not longer is received as a whole. */
const waitingBytes = 256 * 1024

interface Reader {
  readonly resolve: (piece: Uint8Array | undefined) => void
  readonly reject: (reason: Error) => void
}

/** One reader at a time; `push`, `end` and `fail` are for the connection. */
export class IncomingBytes {
  /** It was read to its end, has failed or was destroyed: its connection is free, or gone. */
  closed = false
  #state: 'coming' | 'ended' | 'failed' = 'coming'
  #reason: Error | undefined
  #reader: Reader | undefined
  #closers: (() => void)[] = []
  /** A short body: `read` of its `filled` bytes were given away. */
  #whole: Buffer | undefined
  #filled = 0
  #read = 0
  /** A longer one. */
  #pieces: Uint8Array[] = []
  #queued = 0
  #isPaused = false
  #isDiscarded = false
  #looksSoon = false

  /** @param stated how long the body will be, where the head says it and no coding changes it */
  constructor(
    private readonly controller: Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>,
    private readonly stated: number | undefined,
  ) {}

  /** Called once; at once where it is closed already. */
  onClose(action: () => void): void {
    if (this.closed) action()
    else this.#closers.push(action)
  }

  /** The next piece, undefined at the end; a promise where it has not come yet. Rejects with why no more comes. */
  next(): MaybePromise<Uint8Array | undefined> {
    const piece = this.#shift()
    if (piece !== undefined) return piece
    if (this.#state === 'failed') return Promise.reject(this.#reason ?? prematureClose())
    if (this.#state === 'coming')
      return new Promise((resolve, reject) => {
        this.#reader = { resolve, reject }
      })
    this.#close()
    return undefined
  }

  /** Throws away all that comes. */
  discard(): void {
    this.#drop()
    if (this.#isPaused) this.controller.resume()
    this.#isPaused = false
    if (this.#state === 'ended') this.#close()
  }

  /** Ends the exchange, whatever has come; a reader that waits hears the reason. */
  destroy(why?: Error): void {
    this.#drop()
    if (this.closed) return
    const isComing = this.#state === 'coming'
    this.#state = 'failed'
    this.#reason = why
    if (isComing) this.controller.abort(why ?? new Error('the reader stopped'))
    this.#close()
    this.#wake()
  }

  push(piece: Uint8Array): void {
    if (this.#isDiscarded || this.#state !== 'coming' || piece.length === 0) return
    const { stated } = this
    if (stated !== undefined && stated <= waitingBytes && this.#filled + piece.length <= stated) {
      this.#fill(piece, stated)
      return
    }
    this.#pieces.push(piece)
    this.#queued += piece.length
    this.#wake()
    if (this.#queued < waitingBytes) return
    this.#isPaused = true
    this.controller.pause()
  }

  end(): void {
    if (this.#state !== 'coming') return
    this.#state = 'ended'
    if (this.#isDiscarded) this.#close()
    this.#wake()
  }

  /** What came before is still read. */
  fail(why: Error): void {
    if (this.#state !== 'coming') return
    this.#state = 'failed'
    this.#reason = why
    this.#close()
    this.#wake()
  }

  #close(): void {
    if (this.closed) return
    this.closed = true
    for (const action of this.#closers.splice(0)) action()
  }

  #drop(): void {
    this.#whole = undefined
    this.#filled = 0
    this.#read = 0
    this.#pieces = []
    this.#queued = 0
    this.#isDiscarded = true
  }

  #shift(): Uint8Array | undefined {
    if (this.#whole !== undefined && this.#read < this.#filled) {
      const part = this.#whole.subarray(this.#read, this.#filled)
      this.#read = this.#filled
      // What is given away as a whole is the reader's alone.
      if (part.length === this.#whole.length) this.#whole = undefined
      return part
    }
    const piece = this.#pieces.shift()
    this.#queued -= piece?.length ?? 0
    if (this.#isPaused && this.#queued < waitingBytes) {
      this.#isPaused = false
      this.controller.resume()
    }
    return piece
  }

  /** Gives a reader that waits what is there. */
  #wake(): void {
    const waiting = this.#reader
    if (waiting === undefined) return
    const piece = this.#shift()
    if (piece === undefined && this.#state === 'coming') return
    this.#reader = undefined
    if (piece === undefined && this.#state === 'ended') this.#close()
    if (piece === undefined && this.#state === 'failed') waiting.reject(this.#reason ?? prematureClose())
    else waiting.resolve(piece)
  }

  /** More of a short body is often there already: what one turn of the event loop brings is read in one go. */
  #wakeSoon(): void {
    if (this.#reader === undefined || this.#looksSoon) return
    this.#looksSoon = true
    setImmediate(() => {
      this.#looksSoon = false
      this.#wake()
    })
  }

  #fill(piece: Uint8Array, length: number): void {
    // Who reads all of it at once may keep it as it is.
    this.#whole ??= lendMemory(length)
    this.#whole.set(piece, this.#filled)
    this.#filled += piece.length
    if (this.#filled === length) this.#wake()
    else this.#wakeSoon()
  }
}

/** As a stream of Node says it. */
const prematureClose = (): Error =>
  Object.assign(new Error('the body was given up'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
