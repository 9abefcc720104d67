// Calls of the kernel: how many of each verb ended how, how long they took, which are under way, and what a slow one waited for.
import { machineClocks } from '../system/machine-clocks.js'
import { RequestLog } from './request-log.js'

export interface KernelCall {
  readonly verb: string
  readonly path: string
  /** Milliseconds of the machine's monotonic clock. */
  readonly began: number
  readonly requests: RequestLog
}

export interface CallTally {
  readonly verb: string
  readonly count: number
  /** Of all of them together. */
  readonly milliseconds: number
  /** How often it ended with which errno, by its name; `OK` where it was done. */
  readonly outcomes: ReadonlyMap<string, number>
}

/** Called for each call once it is answered; `errno` is 0 where it was done. */
export type AnsweredCall = (call: KernelCall, milliseconds: number, errno: number) => void

export interface KernelCalls {
  /** The path is asked for where the call is told of. */
  begin(verb: string, pathOf: () => string): KernelCall
  /** Its verb has returned: with a promise where the call has to wait. */
  returned(call: KernelCall, isPending: boolean): void
  answered(call: KernelCall, errno: number, name: string): void
  /** Of the call whose verb is being started at this moment: the requests of that verb are on its account. */
  readonly current: RequestLog | undefined
  readonly underWay: ReadonlySet<KernelCall>
  readonly tallies: Iterable<CallTally>
  listen(answered: AnsweredCall): void
}

interface OwnTally extends CallTally {
  count: number
  milliseconds: number
  readonly outcomes: Map<string, number>
}

class Call implements KernelCall {
  constructor(
    readonly verb: string,
    private readonly pathOf: () => string,
    readonly began: number,
    readonly requests: RequestLog,
  ) {}

  get path(): string {
    return this.pathOf()
  }
}

export function openKernelCalls(): KernelCalls {
  const tallies = new Map<string, OwnTally>()
  const underWay = new Set<KernelCall>()
  const listeners: AnsweredCall[] = []
  let current: RequestLog | undefined

  function tallyOf(verb: string): OwnTally {
    const known = tallies.get(verb)
    if (known !== undefined) return known
    const made = { verb, count: 0, milliseconds: 0, outcomes: new Map<string, number>() }
    tallies.set(verb, made)
    return made
  }

  return {
    begin(verb, pathOf) {
      const requests = new RequestLog()
      current = requests
      return new Call(verb, pathOf, machineClocks.monotonic(), requests)
    },
    returned(call, isPending) {
      current = undefined
      if (isPending) underWay.add(call)
    },
    answered(call, errno, name) {
      const milliseconds = machineClocks.monotonic() - call.began
      underWay.delete(call)
      const tally = tallyOf(call.verb)
      const { outcomes } = tally
      tally.count += 1
      tally.milliseconds += milliseconds
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
      for (const listener of listeners) listener(call, milliseconds, errno)
    },
    get current() {
      return current
    },
    underWay,
    get tallies() {
      return tallies.values()
    },
    listen: answered => void listeners.push(answered),
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
