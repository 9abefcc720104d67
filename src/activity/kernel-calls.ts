// Calls of the kernel: how many of each verb ended how, how long they took, which are under way, and what a slow one waited for.
import { machineClocks } from '../system/machine-clocks.js'
import { RequestLog } from './request-log.js'

export class KernelCall {
  readonly requests = new RequestLog()
  /** Milliseconds of the machine's monotonic clock. */
  readonly began = machineClocks.monotonic()

  constructor(
    readonly verb: string,
    private readonly pathOf: () => string,
  ) {}

  get path(): string {
    return this.pathOf()
  }
}

export class CallTally {
  count = 0
  /** Of all of them together. */
  milliseconds = 0
  /** How often it ended with which errno, by its name; `OK` where it was done. */
  readonly outcomes = new Map<string, number>()

  constructor(readonly verb: string) {}
}

/** Called for each call once it is answered; `errno` is 0 where it was done. */
export type AnsweredCall = (call: KernelCall, milliseconds: number, errno: number) => void

export class KernelCalls {
  readonly underWay = new Set<KernelCall>()
  readonly #tallies = new Map<string, CallTally>()
  readonly #listeners: AnsweredCall[] = []
  #current: RequestLog | undefined

  /** Of the call whose verb is being started at this moment: the requests of that verb are on its account. */
  get current(): RequestLog | undefined {
    return this.#current
  }

  get tallies(): Iterable<CallTally> {
    return this.#tallies.values()
  }

  /** The path is asked for where the call is told of. */
  begin(verb: string, pathOf: () => string): KernelCall {
    const call = new KernelCall(verb, pathOf)
    this.#current = call.requests
    return call
  }

  /** Its verb has returned: with a promise where the call has to wait. */
  returned(call: KernelCall, isPending: boolean): void {
    this.#current = undefined
    if (isPending) this.underWay.add(call)
  }

  answered(call: KernelCall, errno: number, name: string): void {
    const milliseconds = machineClocks.monotonic() - call.began
    this.underWay.delete(call)
    const known = this.#tallies.get(call.verb)
    const tally = known ?? new CallTally(call.verb)
    if (known === undefined) this.#tallies.set(call.verb, tally)
    tally.count += 1
    tally.milliseconds += milliseconds
    tally.outcomes.set(name, (tally.outcomes.get(name) ?? 0) + 1)
    for (const listener of this.#listeners) listener(call, milliseconds, errno)
  }

  listen(answered: AnsweredCall): void {
    this.#listeners.push(answered)
  }
}

/** Milliseconds from which a call is slow. */
export const slowMs = 1_000
/** Requests that one line names, the slowest first. */
const namedAtMost = 10

export interface SlowCall {
  readonly sentence: string
  readonly about: Readonly<Record<string, unknown>>
}

/** Undefined for a call that is not slow. */
export function slowCallOf(
  { verb, path, began, requests }: KernelCall,
  milliseconds: number,
  errno: number,
): SlowCall | undefined {
  if (milliseconds < slowMs) return undefined
  const ended = began + milliseconds
  const waited = requests
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
