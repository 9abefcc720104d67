// The requests that a call of the kernel waits for, its own and those that it shares with other calls, each with its times.
import { machineClocks } from '../system/machine-clocks.js'

/** One request; milliseconds of the machine's monotonic clock. */
export interface LoggedRequest {
  /** Method and path. */
  readonly request: string
  readonly began: number
  /** Undefined while it is under way. */
  ended: number | undefined
}

/** The latest ones are remembered. */
const requestsAtMost = 32
const joinedAtMost = 64

/** One object for each call; what it may need is made with its first request. */
export class RequestLog {
  #own: LoggedRequest[] | undefined
  #joined: Set<RequestLog> | undefined

  /** The returned function notes the end of the request. */
  begin(request: string): () => void {
    const entry: LoggedRequest = { request, began: machineClocks.monotonic(), ended: undefined }
    this.#own ??= []
    if (this.#own.length >= requestsAtMost) this.#own.shift()
    this.#own.push(entry)
    return () => {
      entry.ended ??= machineClocks.monotonic()
    }
  }

  /** A shared request is waited for, with what it waits for itself. */
  join(other: RequestLog | undefined): void {
    if (other === undefined || other === this) return
    this.#joined ??= new Set()
    if (this.#joined.size < joinedAtMost) this.#joined.add(other)
  }

  /** All requests that were under way at some moment since then, in the order in which they began. */
  since(from: number): readonly LoggedRequest[] {
    const found = new Set<LoggedRequest>()
    this.#visit(found, new Set())
    return [...found]
      .filter(({ ended }) => ended === undefined || ended > from)
      .toSorted((one, other) => one.began - other.began)
  }

  #visit(found: Set<LoggedRequest>, seen: Set<RequestLog>): void {
    if (seen.has(this)) return
    seen.add(this)
    for (const entry of this.#own ?? []) found.add(entry)
    for (const other of this.#joined ?? []) other.#visit(found, seen)
  }
}
