// One request and its response on a connection: whether it was sent, what came back, pieces only as fast as they are read.
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'

/** The head of a response; `bytes` is its body, and destroying it ends the exchange. */
export interface IncomingResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Readable
}

export interface Exchange {
  readonly response: Promise<IncomingResponse>
  /** True once the first byte may have left: after that a lost answer leaves the outcome unknown. */
  sent(): boolean
  /** Ends it in whatever state it is; `response` or the body fails with the reason. */
  abort(reason: Error): void
}

/**
 * Sends one request; the only caller of undici. Never retries and follows nothing. `refusal` is asked when a connection
 * is ready: what it answers ends the exchange before the first byte.
 */
export function sendOnConnection(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  refusal: () => Error | undefined = () => undefined,
): Exchange {
  let controller: Dispatcher.DispatchController | undefined
  let stopped: Error | undefined
  let bytes: Readable | undefined
  let fail: (reason: Error) => void = () => {}

  const abort = (reason: Error): void => {
    stopped ??= reason
    fail(stopped)
    if (bytes === undefined) controller?.abort(stopped)
    else bytes.destroy(stopped)
  }

  const response = new Promise<IncomingResponse>((resolve, reject) => {
    fail = reject
    dispatcher.dispatch(options, {
      onRequestStart(connected) {
        const stop = stopped ?? refusal()
        if (stop === undefined) controller = connected
        else connected.abort(stop)
      },
      onResponseStart(connected, status, headers) {
        if (status < 200) return
        bytes = responseStream(connected)
        resolve({ status, headers, bytes })
      },
      onResponseData(connected, piece) {
        if (bytes?.push(piece) === false) connected.pause()
      },
      onResponseEnd() {
        bytes?.push(null)
      },
      onResponseError(_connected, error) {
        reject(error)
        bytes?.destroy(error)
      },
    })
  })
  return { response, sent: () => controller !== undefined, abort }
}

/** How much of a body may wait in memory for its reader. */
const waiting = 256 * 1024

function responseStream(controller: Dispatcher.DispatchController): Readable {
  const bytes = new Readable({
    highWaterMark: waiting,
    read: () => controller.resume(),
    destroy(error, done) {
      if (!bytes.readableEnded) controller.abort(error ?? new Error('the reader stopped'))
      done(error)
    },
  })
  // The reader receives the error when it reads; without a listener it would also end the process.
  bytes.on('error', () => {})
  return bytes
}
