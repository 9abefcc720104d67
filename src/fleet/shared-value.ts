// Shared value: the fleet's answer to a question, or a lease to ask the service for all, or a wait for the one who asks.
import { type Clock, every, sleep } from '../remote/clock.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import type { Opened, Seal, SealedName } from './seal.js'
import { type FleetStore, leaseMs, type Taken, type ValueLength } from './store.js'

/** The things that are other ones now. */
export type ChangeElsewhere =
  | { readonly is: 'answer'; readonly namespace: string; readonly key: string; readonly lifetime: number }
  /** A content, by its name in the cache. */
  | { readonly is: 'content'; readonly name: string }
  | { readonly is: 'all' }

/** A daemon's use of the fleet so far. */
export interface FleetCounts {
  /** Questions that were answered from the fleet: as many requests less. */
  saved: number
  /** Questions that this daemon asked the service for all. */
  asked: number
}

export interface SharingPorts {
  readonly store: FleetStore
  readonly seal: Seal
  readonly clock: Clock
  /** Of this daemon, in its leases. */
  readonly node: string
  readonly counts: FleetCounts
  /** The values under these names are over, and the others are told so. */
  readonly change: (names: readonly SealedName[], news: ChangeElsewhere) => Promise<void>
}

export interface Wanted<Answer> {
  readonly name: SealedName
  readonly length: ValueLength
  /** For how much longer a value must count, in milliseconds. */
  readonly leftMs: number
  /** Half of the time until its deadline is for another daemon's answer: the rest is for asking the service. */
  readonly context: RequestContext
  /** Undefined where it does not count. */
  readonly unpack: (opened: Opened) => Answer | undefined
}

/** One question: how it is asked, and its form in the fleet. */
interface SharedQuestion<Answer> extends Wanted<Answer> {
  ask(): Promise<Answer>
  /** The part that others get, and for how many milliseconds from its question on; undefined for what they ask for themselves. */
  pack(answer: Answer): { readonly plain: Uint8Array; readonly livesMs: number } | undefined
}

/** Milliseconds between two looks for another daemon's answer: longer each time. */
const [firstPauseMs, longestPauseMs] = [10, 250]
/** Of values that do not count, so many are passed over before the service is asked alone. */
const uselessAtMost = 2

/** The value, or a lease; undefined where the service is to be asked without the fleet. */
export async function takenFrom<Answer>(
  ports: SharingPorts,
  wanted: Wanted<Answer>,
): Promise<{ readonly answer: Answer } | Lease | undefined> {
  const { clock, counts, seal } = ports
  const { name, context, unpack } = wanted
  const lease = new Lease(ports, wanted)
  const now = clock.now()
  const waitsUntil = now + ((context.answerBy ?? context.deadline) - now) / 2
  let { leftMs } = wanted
  let pauseMs = firstPauseMs
  for (let useless = 0; useless <= uselessAtMost; ) {
    const taken = await lease.take(leftMs)
    if (taken === undefined) return undefined
    if (taken === 'leased') return lease
    if (taken === 'asked') {
      if (clock.now() + pauseMs > waitsUntil) return undefined
      await sleep(clock, pauseMs)
      pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)
      continue
    }
    // One that is damaged, forged or of another key does not count either.
    const opened = seal.open(name, taken.value)
    const answer = opened && unpack(opened)
    if (answer !== undefined) {
      counts.saved += 1
      return { answer }
    }
    useless += 1
    // Asked for again it is a lease: the next value takes its place.
    leftMs = Math.max(leftMs, taken.leftMs)
  }
  return undefined
}

/** Rejects with what the question itself rejects with; the fleet's own troubles only make it ask the service. */
export async function sharedValue<Answer>(
  ports: SharingPorts,
  question: SharedQuestion<Answer>,
): Promise<Answer> {
  const taken = await takenFrom(ports, question)
  if (taken === undefined) return question.ask()
  if (!(taken instanceof Lease)) return taken.answer
  const { clock, counts } = ports
  const made = clock.now()
  counts.asked += 1
  try {
    const answer = await question.ask()
    const packed = question.pack(answer)
    const livesMs = (packed?.livesMs ?? 0) - (clock.now() - made)
    if (packed !== undefined && livesMs > 0) taken.put(livesMs, made, packed.plain)
    return answer
  } finally {
    taken.release()
  }
}

let leases = 0

/** One daemon asks the service for all: renewed until the value is put, or it is given up. */
export class Lease {
  private readonly owner: string
  private stop = () => {}
  private isOver = false

  constructor(
    private readonly ports: SharingPorts,
    private readonly of: Pick<Wanted<unknown>, 'name' | 'length'>,
  ) {
    leases += 1
    this.owner = `${ports.node}:${leases}`
  }

  /** The value of another daemon, or the lease; undefined where the fleet is passed by. */
  async take(leftMs: number): Promise<Taken | undefined> {
    const { store, clock } = this.ports
    const { name, length } = this.of
    if (store.breaker.why !== undefined) return undefined
    const found = await store.take(name, this.owner, leftMs, length).catch(() => undefined)
    if (found === 'leased') this.stop = every(clock, leaseMs / 4, () => this.hold(leaseMs))
    return found
  }

  /** In the background. @param plain in pieces, one after another */
  put(livesMs: number, made: Instant, ...plain: readonly Uint8Array[]): void {
    if (!this.end()) return
    const { store, seal } = this.ports
    const { name, length } = this.of
    const value = seal.close(name, made, ...plain)
    store.put(name, this.owner, value, livesMs, length).catch(() => {})
  }

  /** The next one asks; safe at any time. */
  release(): void {
    if (this.end()) this.hold(0)
  }

  private hold(milliseconds: number): void {
    this.ports.store.hold(this.of.name, this.owner, milliseconds).catch(() => {})
  }

  private end(): boolean {
    const isFirst = !this.isOver
    this.isOver = true
    this.stop()
    return isFirst
  }
}
