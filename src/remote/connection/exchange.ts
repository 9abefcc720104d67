// One request and its response on a connection: whether it was sent, what came back, pieces only as fast as they are read.
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { Failure } from '../../failure.js'
import type { Clock } from '../clock.js'
import { IncomingBytes } from './incoming-bytes.js'
import { isFault, networkFailure } from './network-errors.js'

/** The head of a response; `bytes` is its body, and destroying it ends the exchange. */
export interface IncomingResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: IncomingBytes
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
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.DispatchOptions,
  refusal: () => Error | undefined = () => undefined,
): Exchange {
  let controller: Dispatcher.DispatchController | undefined
  let stopped: Error | undefined
  let bytes: IncomingBytes | undefined
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
        bytes = new IncomingBytes(connected, statedLength(headers))
        resolve({ status, headers, bytes })
      },
      onResponseData(_connected, piece) {
        bytes?.push(piece)
      },
      onResponseEnd() {
        bytes?.end()
      },
      onResponseError(_connected, error) {
        reject(error)
        bytes?.fail(error)
      },
    })
  })
  return { response, sent: () => controller !== undefined, abort }
}

/** Resolves once an answer has come to its end, whatever it is. @throws Failure, 'timeout' after so many milliseconds, 'refuses-all' for a fault */
export async function anyAnswer(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.DispatchOptions,
  { limit, clock }: { readonly limit: number; readonly clock: Clock },
): Promise<void> {
  const call = sendOnConnection(dispatcher, options)
  const silence = (): void => call.abort(new Failure('timeout', 'the probe was not answered'))
  const callOff = clock.after(limit, silence)
  try {
    const { status, bytes } = await call.response
    while ((await bytes.next()) !== undefined);
    if (isFault(status))
      throw new Failure('refuses-all', `the service answered ${status} to GET ${options.path.slice(0, 300)}`)
  } catch (thrown) {
    throw networkFailure(thrown)
  } finally {
    callOff()
  }
}

/** How long the body will be on the wire, where its head says so in the plain way. */
function statedLength(headers: IncomingHttpHeaders): number | undefined {
  const stated = headers['content-length']
  if (typeof stated !== 'string' || headers['content-encoding'] !== undefined) return undefined
  return /^\d{1,15}$/.test(stated) ? Number(stated) : undefined
}
