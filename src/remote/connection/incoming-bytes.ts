// Body of an answer while it arrives: a short one in one buffer of its stated length, a longer one piece by piece, as fast as it is read.
import type { Dispatcher } from 'undici'
import { lendMemory } from '../../lent-memory.js'
import type { MaybePromise } from '../../maybe-promise.js'

/** What a reader sees of it. One reader at a time. */
export interface IncomingBytes {
  /** It was read to its end, has failed or was destroyed: its connection is free, or gone. */
  readonly closed: boolean
  /** Called once; at once where it is closed already. */
  onClose(action: () => void): void
  /** The next piece, undefined at the end; a promise where it has not come yet. Rejects with why no more comes. */
  next(): MaybePromise<Uint8Array | undefined>
  /** Throws away all that comes. */
  discard(): void
  /** Ends the exchange, whatever has come; a reader that waits hears the reason. */
  destroy(reason?: Error): void
}

/** The connection's side of it. */
export interface ArrivingBytes extends IncomingBytes {
  push(piece: Uint8Array): void
  end(): void
  /** What came before is still read. */
  fail(reason: Error): void
}

/** How much of a body may wait in memory for its reader; one that is not longer is received as a whole. */
const waitingBytes = 256 * 1024

interface Reader {
  readonly resolve: (piece: Uint8Array | undefined) => void
  readonly reject: (reason: Error) => void
}

/** @param stated how long the body will be, where the head says it and no coding changes it */
export function openIncomingBytes(
  controller: Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>,
  stated: number | undefined,
): ArrivingBytes {
  const isShort = stated !== undefined && stated <= waitingBytes
  const closers: (() => void)[] = []
  let state: 'coming' | 'ended' | 'failed' = 'coming'
  let closed = false
  let reason: Error | undefined
  let reader: Reader | undefined
  /** A short body: `read` of its `filled` bytes were given away. */
  let whole: Buffer | undefined
  let filled = 0
  let read = 0
  /** A longer one. */
  let pieces: Uint8Array[] = []
  let queued = 0
  let isPaused = false
  let isDiscarded = false
  let looksSoon = false

  function close(): void {
    if (closed) return
    closed = true
    for (const action of closers.splice(0)) action()
  }

  function drop(): void {
    whole = undefined
    filled = 0
    read = 0
    pieces = []
    queued = 0
    isDiscarded = true
  }

  function shift(): Uint8Array | undefined {
    if (whole !== undefined && read < filled) {
      const part = whole.subarray(read, filled)
      read = filled
      // What is given away as a whole is the reader's alone.
      if (part.length === whole.length) whole = undefined
      return part
    }
    const piece = pieces.shift()
    queued -= piece?.length ?? 0
    if (isPaused && queued < waitingBytes) {
      isPaused = false
      controller.resume()
    }
    return piece
  }

  /** Gives a reader that waits what is there. */
  function wake(): void {
    const waiting = reader
    if (waiting === undefined) return
    const piece = shift()
    if (piece === undefined && state === 'coming') return
    reader = undefined
    if (piece === undefined && state === 'ended') close()
    if (piece === undefined && state === 'failed') waiting.reject(reason ?? prematureClose())
    else waiting.resolve(piece)
  }

  /** More of a short body is often there already: what one turn of the event loop brings is read in one go. */
  function wakeSoon(): void {
    if (reader === undefined || looksSoon) return
    looksSoon = true
    setImmediate(() => {
      looksSoon = false
      wake()
    })
  }

  function fill(piece: Uint8Array, length: number): void {
    // Who reads all of it at once may keep it as it is.
    whole ??= lendMemory(length)
    whole.set(piece, filled)
    filled += piece.length
    if (filled === length) wake()
    else wakeSoon()
  }

  return {
    get closed() {
      return closed
    },
    onClose(action) {
      if (closed) action()
      else closers.push(action)
    },
    next() {
      const piece = shift()
      if (piece !== undefined) return piece
      if (state === 'failed') return Promise.reject(reason ?? prematureClose())
      if (state === 'coming')
        return new Promise((resolve, reject) => {
          reader = { resolve, reject }
        })
      close()
      return undefined
    },
    discard() {
      drop()
      if (isPaused) controller.resume()
      isPaused = false
      if (state === 'ended') close()
    },
    destroy(why) {
      if (closed) return drop()
      const isComing = state === 'coming'
      drop()
      state = 'failed'
      reason = why
      if (isComing) controller.abort(why ?? new Error('the reader stopped'))
      close()
      wake()
    },
    push(piece) {
      if (isDiscarded || state !== 'coming' || piece.length === 0) return
      if (isShort && filled + piece.length <= stated) return fill(piece, stated)
      pieces.push(piece)
      queued += piece.length
      wake()
      if (queued < waitingBytes) return
      isPaused = true
      controller.pause()
    },
    end() {
      if (state !== 'coming') return
      state = 'ended'
      if (isDiscarded) close()
      wake()
    },
    fail(why) {
      if (state !== 'coming') return
      state = 'failed'
      reason = why
      close()
      wake()
    },
  }
}

/** As a stream of Node says it. */
const prematureClose = (): Error =>
  Object.assign(new Error('the body was given up'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
