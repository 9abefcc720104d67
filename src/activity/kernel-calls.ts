// Calls of the kernel and requests to the service: how many of each ended how, how long they took, which are under way, and what a slow call waited for.
import { machineClocks } from '../system/machine-clocks.js'

/** One request; milliseconds of the machine's monotonic clock. */
interface LoggedRequest {
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

/** A call, and the requests that it waits for. */
export class KernelCall extends RequestLog {
  /** Milliseconds of the machine's monotonic clock. */
  readonly began = machineClocks.monotonic()

  constructor(
    readonly verb: string,
    private readonly pathOf: () => string,
  ) {
    super()
  }

  get path(): string {
    return this.pathOf()
  }
}

/** Of one verb, or of one method and endpoint. */
class Tally<Of> {
  count = 0
  /** Of all of them together. */
  milliseconds = 0
  /** How often one ended so: of a call the name of its errno, or `OK`, of a request its status or kind of failure. */
  readonly outcomes = new Map<string, number>()

  constructor(readonly of: Of) {}

  add(milliseconds: number, outcome: string): void {
    this.count += 1
    this.milliseconds += milliseconds
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
  }
}

/** Called for each call once it is answered; `errno` is 0 where it was done. */
export type AnsweredCall = (call: KernelCall, milliseconds: number, errno: number) => void

export class KernelCalls {
  readonly underWay = new Set<KernelCall>()
  readonly #tallies = new Map<string, Tally<{ readonly verb: string }>>()
  readonly #listeners: AnsweredCall[] = []
  /** The call whose verb is being started at this moment: the requests of that verb are on its account. */
  current: KernelCall | undefined

  get tallies(): Iterable<Tally<{ readonly verb: string }>> {
    return this.#tallies.values()
  }

  /** The path is asked for where the call is told of. */
  begin(verb: string, pathOf: () => string): KernelCall {
    const call = new KernelCall(verb, pathOf)
    this.current = call
    return call
  }

  /** Its verb has returned: with a promise where the call has to wait. */
  returned(call: KernelCall, isPending: boolean): void {
    this.current = undefined
    if (isPending) this.underWay.add(call)
  }

  answered(call: KernelCall, errno: number, name: string): void {
    const milliseconds = machineClocks.monotonic() - call.began
    this.underWay.delete(call)
    const known = this.#tallies.get(call.verb)
    const tally = known ?? new Tally({ verb: call.verb })
    if (known === undefined) this.#tallies.set(call.verb, tally)
    tally.add(milliseconds, name)
    for (const listener of this.#listeners) listener(call, milliseconds, errno)
  }

  listen(answered: AnsweredCall): void {
    this.#listeners.push(answered)
  }
}

export const slowMs = 1_000
/** Requests that one line names, the slowest first. */
const namedAtMost = 10

export function slowCallOf(call: KernelCall, milliseconds: number, errno: number) {
  const { verb, path, began } = call
  if (milliseconds < slowMs) return undefined
  const ended = began + milliseconds
  const waited = call
    .since(began)
    .map(one => ({ request: one.request, ms: Math.round((one.ended ?? ended) - one.began) }))
    .toSorted((one, other) => other.ms - one.ms)
  return {
    sentence: `a slow call: ${verb} took ${(milliseconds / 1000).toFixed(1)} s, for ${count(waited.length)}`,
    about: { verb, path, ms: Math.round(milliseconds), errno, requests: waited.slice(0, namedAtMost) },
  }
}

const count = (requests: number): string =>
  requests === 0 ? 'no request' : requests === 1 ? 'one request' : `${requests} requests`

interface Endpoint {
  readonly method: string
  /** Below the address of the service, without its query. */
  readonly endpoint: string
}

/** One attempt of a request, once it has ended. */
interface EndedRequest extends Endpoint {
  /** The HTTP status, or the kind of failure where no head of an answer came. */
  readonly outcome: string
  readonly milliseconds: number
}

const other = '/other'

export class Requests {
  underWay = 0
  bytes = 0
  readonly #tallies = new Map<string, Tally<Endpoint>>()
  readonly #listeners: ((request: EndedRequest) => void)[] = []

  get tallies(): Iterable<Tally<Endpoint>> {
    return this.#tallies.values()
  }

  begin(): void {
    this.underWay += 1
  }

  ended(request: EndedRequest): void {
    this.underWay -= 1
    const { method, outcome, milliseconds } = request
    const tally = this.#tallyOf(method, endpointIn(request.endpoint))
    tally.add(milliseconds, outcome)
    for (const listener of this.#listeners) listener({ ...request, endpoint: tally.of.endpoint })
  }

  received(bytes: number): void {
    this.bytes += bytes
  }

  /** Called for each request once it has ended, with an endpoint that is told apart. */
  listen(ended: (request: EndedRequest) => void): void {
    this.#listeners.push(ended)
  }

  #tallyOf(method: string, endpoint: string): Tally<Endpoint> {
    const name = `${method} ${endpoint}`
    const known = this.#tallies.get(name)
    if (known !== undefined) return known
    const made = new Tally({ method, endpoint })
    this.#tallies.set(name, made)
    return made
  }
}

/** No id, name or token is ever a part of what is counted: endpoints are words. */
const endpointIn = (endpoint: string): string => (/^(\/[a-z][a-z-]*){1,4}$/.test(endpoint) ? endpoint : other)
