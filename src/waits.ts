// Waits of a call: spans of time by cause, gathered along the requests that it waits for, its own and shared ones.
import { machineClocks } from './system/machine-clocks.js'

/** What a call can wait for, in the words of the log. */
export const waitWords = {
  slot: 'a free connection slot',
  rate: 'the limit of requests a second',
  bandwidth: 'the limit of bytes a second',
  breaker: 'a probe of the service, which is away',
  change: 'the answer to an earlier change',
  answer: "the service's answer",
  body: "the rest of the service's answer",
  retry: 'the pause before another attempt',
  lock: 'another save of the record',
  fleet: 'the fleet',
  disk: 'the local disk',
} as const

export type WaitCause = keyof typeof waitWords

/** How long was waited for one cause, and for which requests. */
export interface WaitTime {
  readonly cause: WaitCause
  readonly milliseconds: number
  readonly about: readonly string[]
}

interface Span {
  readonly cause: WaitCause
  readonly about: string | undefined
  from: number
  /** Undefined while it lasts. */
  to: number | undefined
}

/** Spans of one request that are remembered; a long download has many. */
const spansAtMost = 48
const joinedAtMost = 64
/** Milliseconds: two waits for the same that are no further apart are one. */
const sameWithin = 5
/** Requests that are named for one cause. */
const namedAtMost = 3

/** One object for each call of the kernel: what it may need is made once it waits. */
export class Waits {
  #spans: Span[] | undefined
  #joined: Set<Waits> | undefined

  /** The returned function ends the wait. */
  begin(cause: WaitCause, about?: string): () => void {
    const from = machineClocks.monotonic()
    this.#spans ??= []
    const last = this.#spans.at(-1)
    if (
      last?.cause === cause &&
      last.about === about &&
      last.to !== undefined &&
      from - last.to < sameWithin
    ) {
      last.to = undefined
      return () => ended(last)
    }
    if (this.#spans.length >= spansAtMost) this.#spans.shift()
    const span: Span = { cause, about, from, to: undefined }
    this.#spans.push(span)
    return () => ended(span)
  }

  /** What a shared request waits for, this call waits for. */
  join(other: Waits | undefined): void {
    if (other === undefined || other === this) return
    this.#joined ??= new Set()
    if (this.#joined.size < joinedAtMost) this.#joined.add(other)
  }

  /** The cause of the present wait. */
  get present(): WaitCause | undefined {
    return spansOf(this).findLast(({ to }) => to === undefined)?.cause
  }

  /** What was waited for in this time (milliseconds of the machine's monotonic clock), the longest first. */
  between(from: number, to: number): readonly WaitTime[] {
    const clipped = spansOf(this)
      .map(span => ({ ...span, from: Math.max(from, span.from), to: Math.min(to, span.to ?? to) }))
      .filter(span => span.to > span.from)
    const causes = new Set(clipped.map(({ cause }) => cause))
    return [...causes]
      .map(cause => {
        const own = clipped.filter(span => span.cause === cause)
        const about = new Set(own.flatMap(span => span.about ?? []))
        return { cause, milliseconds: covered(own), about: [...about].slice(0, namedAtMost) }
      })
      .toSorted((one, other) => other.milliseconds - one.milliseconds)
  }

  /** Milliseconds of this time in which nothing was waited for that is known here. */
  unexplained(from: number, to: number): number {
    const clipped = spansOf(this)
      .map(span => ({ from: Math.max(from, span.from), to: Math.min(to, span.to ?? to) }))
      .filter(span => span.to > span.from)
    return to - from - covered(clipped)
  }

  /** Calls `found` for each, those of joined requests included. */
  visit(found: (span: Span) => void, seen: Set<Waits> = new Set()): void {
    if (seen.has(this)) return
    seen.add(this)
    for (const span of this.#spans ?? []) found(span)
    for (const other of this.#joined ?? []) other.visit(found, seen)
  }
}

function ended(span: Span): void {
  span.to ??= machineClocks.monotonic()
}

function spansOf(waits: Waits): readonly Span[] {
  const found: Span[] = []
  waits.visit(span => found.push(span))
  return found
}

/** Milliseconds that the spans cover together; side by side they count once. */
function covered(spans: readonly { readonly from: number; readonly to: number }[]): number {
  let total = 0
  let until = Number.NEGATIVE_INFINITY
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    total += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return total
}

/** Notes the wait for a promise; a value that is there is no wait. */
export function awaiting<Value>(
  waits: Waits | undefined,
  cause: WaitCause,
  soon: Value,
  about?: string,
): Value {
  if (waits === undefined || !(soon instanceof Promise)) return soon
  const end = waits.begin(cause, about)
  soon.then(end, end)
  return soon
}
