// One request and its answer on a connection: whether it was sent, what comes back, and only as fast as it is taken.
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { Instant } from '../remote.js'

export interface Head {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** Hears of an exchange: of its head, of each piece of its body, and once of its end or of why there is none. */
export interface ExchangeListener {
  /** An error that it throws ends the exchange, as in `piece`. */
  head(head: Head, exchange: Exchange): void
  piece(piece: Uint8Array, exchange: Exchange): void
  ended(exchange: Exchange): void
  failed(reason: Error, exchange: Exchange): void
}

/** The handler of undici for one request. Never retries and follows nothing. */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #stopped: Error | undefined
  #isOver = false
  #pauses = 0

  /** `refusal` is asked when a connection is ready: what it answers ends the exchange before the first byte. */
  constructor(
    public listener: ExchangeListener,
    readonly sentAt: Instant,
    private readonly refusal?: (() => Error | undefined) | undefined,
  ) {}

  /** True once the first byte may have left: after that a lost answer leaves the outcome unknown. */
  get isSent(): boolean {
    return this.#controller !== undefined
  }

  /** Nothing more is taken for the moment. */
  get isPaused(): boolean {
    return this.#pauses > 0
  }

  /** Ends it in whatever state it is, and tells its listener why. */
  abort(reason: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopped = reason
    this.#controller?.abort(reason)
    this.listener.failed(reason, this)
  }

  pause(): void {
    this.#pauses += 1
    if (this.#pauses === 1) this.#controller?.pause()
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses === 0 && !this.#isOver) this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const stop = this.#stopped ?? this.refusal?.()
    if (stop === undefined) this.#controller = controller
    else controller.abort(stop)
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200 && !this.#isOver) this.listener.head({ status, headers }, this)
  }

  onResponseData(_controller: unknown, piece: Uint8Array): void {
    // A parser that is resumed before more has come tells an empty piece: a pause for each would never end.
    if (!this.#isOver && piece.length > 0) this.listener.piece(piece, this)
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.listener.ended(this)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.listener.failed(error, this)
  }
}
