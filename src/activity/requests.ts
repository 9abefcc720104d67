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

export interface RequestTally {
  readonly method: string
  readonly endpoint: string
  readonly count: number
  /** Of all of them together. */
  readonly milliseconds: number
  readonly outcomes: ReadonlyMap<string, number>
}

interface OwnTally extends RequestTally {
  count: number
  milliseconds: number
  readonly outcomes: Map<string, number>
}

export interface Requests {
  begin(): void
  ended(request: EndedRequest): void
  received(bytes: number): void
  readonly underWay: number
  readonly bytes: number
  readonly tallies: Iterable<RequestTally>
  /** Called for each request once it has ended, with an endpoint that is told apart. */
  listen(ended: (request: EndedRequest) => void): void
}

/** Endpoints that are told apart: redirects can lead anywhere, and a label for each path would grow for ever. */
const endpointsAtMost = 64
const other = '/other'

export function openRequests(): Requests {
  const tallies = new Map<string, OwnTally>()
  const listeners: ((request: EndedRequest) => void)[] = []
  let underWay = 0
  let bytes = 0

  function tallyOf(method: string, endpoint: string): OwnTally {
    const name = `${method} ${endpoint}`
    const known = tallies.get(name)
    if (known !== undefined) return known
    if (tallies.size >= endpointsAtMost && endpoint !== other) return tallyOf(method, other)
    const made = { method, endpoint, count: 0, milliseconds: 0, outcomes: new Map<string, number>() }
    tallies.set(name, made)
    return made
  }

  return {
    begin() {
      underWay += 1
    },
    ended(request) {
      underWay -= 1
      const { method, outcome, milliseconds } = request
      const tally = tallyOf(method, endpointIn(request.endpoint))
      const { endpoint, outcomes } = tally
      tally.count += 1
      tally.milliseconds += milliseconds
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      for (const listener of listeners) listener({ ...request, endpoint })
    },
    listen: ended => void listeners.push(ended),
    received(count) {
      bytes += count
    },
    get underWay() {
      return underWay
    },
    get bytes() {
      return bytes
    },
    get tallies() {
      return tallies.values()
    },
  }
}

/** No id, name or token is ever a part of what is counted: endpoints are words. */
const endpointIn = (endpoint: string): string => (/^(\/[a-z][a-z-]*){1,4}$/.test(endpoint) ? endpoint : other)
