// Requests to the service: how many of each endpoint ended how, how long they took, and which bytes came.

/** One attempt of a request, once it has ended. */
export interface EndedRequest {
  readonly method: string
  /** Below the address of the service, without its query. */
  readonly endpoint: string
  /** The HTTP status, or the kind of failure where no head of an answer came. */
  readonly outcome: string
  readonly milliseconds: number
}

export class RequestTally {
  count = 0
  /** Of all of them together. */
  milliseconds = 0
  readonly outcomes = new Map<string, number>()

  constructor(
    readonly method: string,
    readonly endpoint: string,
  ) {}
}

/** Endpoints that are told apart: redirects can lead anywhere, and a label for each path would grow for ever. */
const endpointsAtMost = 64
const other = '/other'

export class Requests {
  underWay = 0
  bytes = 0
  readonly #tallies = new Map<string, RequestTally>()
  readonly #listeners: ((request: EndedRequest) => void)[] = []

  get tallies(): Iterable<RequestTally> {
    return this.#tallies.values()
  }

  begin(): void {
    this.underWay += 1
  }

  ended(request: EndedRequest): void {
    this.underWay -= 1
    const { method, outcome, milliseconds } = request
    const tally = this.#tallyOf(method, endpointIn(request.endpoint))
    const { endpoint, outcomes } = tally
    tally.count += 1
    tally.milliseconds += milliseconds
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    for (const listener of this.#listeners) listener({ ...request, endpoint })
  }

  received(bytes: number): void {
    this.bytes += bytes
  }

  /** Called for each request once it has ended, with an endpoint that is told apart. */
  listen(ended: (request: EndedRequest) => void): void {
    this.#listeners.push(ended)
  }

  #tallyOf(method: string, endpoint: string): RequestTally {
    const name = `${method} ${endpoint}`
    const known = this.#tallies.get(name)
    if (known !== undefined) return known
    if (this.#tallies.size >= endpointsAtMost && endpoint !== other) return this.#tallyOf(method, other)
    const made = new RequestTally(method, endpoint)
    this.#tallies.set(name, made)
    return made
  }
}

/** No id, name or token is ever a part of what is counted: endpoints are words. */
const endpointIn = (endpoint: string): string => (/^(\/[a-z][a-z-]*){1,4}$/.test(endpoint) ? endpoint : other)
