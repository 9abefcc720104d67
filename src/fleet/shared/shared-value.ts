// Shared value: one daemon of a fleet asks the service, under a lease; the others wait for what it puts.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { FleetLane, Taken } from '../engine/fleet-lane.js'
import { FleetAway, type FleetStore } from '../engine/fleet-store.js'
import type { Seal, SealedName } from '../engine/seal.js'

/** What a daemon had of the fleet so far. */
export interface FleetCounts {
  /** Questions that were answered from the fleet: as many requests less. */
  hits: number
  /** Questions that this daemon asked the service for all. */
  asked: number
  /** Bytes of values that came from the fleet, and that were put there. */
  received: number
  sent: number
  /** Values that were wrong, old or forged. */
  wrong: number
}

export interface SharedValuePorts {
  readonly store: FleetStore
  readonly seal: Seal
  readonly clock: Clock
  /** Of this daemon, in its leases. */
  readonly node: string
  readonly counts: FleetCounts
  readonly log: (sentence: string, about: Record<string, unknown>) => void
}

/** What others get of an answer, and for how many milliseconds. */
export interface PackedAnswer {
  readonly plain: Uint8Array
  readonly livesMs: number
}

/** One question: how it is asked, and its form in the fleet. */
export interface SharedQuestion<Answer> {
  readonly name: SealedName
  /** By this daemon's clock, in milliseconds: another daemon's answer is waited for no longer than half of the time until then. */
  readonly deadline: number
  /** For how much longer a value must count, in milliseconds; 0 if undefined. */
  readonly leftMs?: number
  ask(): Promise<Answer>
  /** What others get of it, and for how many milliseconds; undefined for what they must ask for themselves. */
  pack(answer: Answer, tookMs: number): PackedAnswer | undefined
  /**
   * Undefined where it counts no longer; throws an Error for what is none of this version.
   * @param leftMs for how much longer the server keeps it
   * @param ageMs since it was put there, as it says itself
   */
  unpack(plain: Buffer, leftMs: number, ageMs: number): Answer | undefined
}

/** Milliseconds after which the lease of a daemon that died is over; renewed while it lives. */
export const leaseMs = 2_000
/** Milliseconds after which one who waits asks again whose the lease is: the answer may have been damaged. */
export const askAgainMs = 500
/** Of values that do not count, so many are taken away before the service is asked. */
export const wrongAtMost = 2
/** The same of values that are too old: the next one that is put is not, unless someone puts old ones back. */
const oldAtMost = 4

/** What is noted of a value that is older than the server says. */
export const putBack =
  'a value in the fleet is older than its server says, and is not used: it was put back, or the clocks of two machines differ'

let asked = 0

/** Rejects with what the question itself rejects with; the fleet's own troubles only make it ask the service. */
export async function sharedValue<Answer>(
  ports: SharedValuePorts,
  question: SharedQuestion<Answer>,
): Promise<Answer> {
  if (ports.store.breaker.isOpen) return question.ask()
  const found = await takenFromFleet(ports, question)
  return found === undefined ? question.ask() : found.answer
}

/** Undefined where the service is to be asked without the fleet. */
async function takenFromFleet<Answer>(
  ports: SharedValuePorts,
  question: SharedQuestion<Answer>,
): Promise<{ readonly answer: Answer } | undefined> {
  const { store, clock } = ports
  const { name } = question
  let watch: Awaited<ReturnType<FleetStore['watch']>> | undefined
  let wrong = 0
  let old = 0
  let leftMs = question.leftMs ?? 0
  // An owner whose own line hangs renews its lease: the rest is for asking the service.
  const waitedUntil = clock.now() + (question.deadline - clock.now()) / 2
  asked += 1
  const owner = `${ports.node}:${asked}`
  try {
    for (;;) {
      const taken = await unlessAway(store.answers.take(name, owner, leaseMs, leftMs))
      if (taken === undefined || taken.is === 'full') return undefined
      if (taken.is === 'leased') return { answer: await askForAll(ports, question, owner) }
      if (taken.is === 'there') {
        const found = opened(ports, question, taken)
        if (typeof found === 'object') return found
        if (found === 'old') {
          old += 1
          if (old > oldAtMost) return undefined
          // It may do for others; this one needs a newer one.
          leftMs = Math.max(leftMs, taken.leftMs)
          continue
        }
        wrong += 1
        if (wrong > wrongAtMost) return undefined
        await unlessAway(store.answers.change(name, undefined, 0))
        continue
      }
      const left = waitedUntil - clock.now()
      if (left <= 0) return undefined
      if (watch === undefined) {
        watch = await unlessAway(store.watch(name))
        if (watch === undefined) return undefined
        continue
      }
      await watch.next(Math.min(left, askAgainMs))
    }
  } finally {
    watch?.end()
  }
}

function opened<Answer>(
  { seal, counts, log }: SharedValuePorts,
  { name, unpack }: SharedQuestion<Answer>,
  { value, leftMs }: Extract<Taken, { is: 'there' }>,
): { readonly answer: Answer } | 'old' | 'wrong' {
  const opening = seal.open(name, value)
  if (opening === undefined) {
    counts.wrong += 1
    log('a value in the fleet was not sealed with its key, and is not used', { name })
    return 'wrong'
  }
  try {
    const answer = unpack(opening.plain, leftMs, opening.ageMs)
    if (answer === undefined) return 'old'
    counts.hits += 1
    counts.received += value.length
    return { answer }
  } catch (cause) {
    counts.wrong += 1
    log('a value in the fleet is of another form, and is not used', { name, cause })
    return 'wrong'
  }
}

async function askForAll<Answer>(
  ports: SharedValuePorts,
  question: SharedQuestion<Answer>,
  owner: string,
): Promise<Answer> {
  const { store, seal, clock, counts } = ports
  const { name } = question
  const began = clock.now()
  const endLease = keepLease(store.answers, clock, name, owner)
  counts.asked += 1
  try {
    const answer = await question.ask()
    const packed = question.pack(answer, clock.now() - began)
    if (packed === undefined || packed.livesMs <= 0) release(ports.store.answers, name, owner)
    else {
      const value = seal.close(name, packed.plain)
      store.answers.put(name, owner, value, Math.ceil(packed.livesMs)).then(isThere => {
        if (isThere) counts.sent += value.length
      }, noop)
    }
    return answer
  } catch (thrown) {
    release(ports.store.answers, name, owner)
    throw thrown
  } finally {
    endLease()
  }
}

/** Without it the lease ends by itself. */
export function release(lane: FleetLane, name: SealedName, owner: string): void {
  lane.release(name, owner).catch(noop)
}

/** Renews the lease until the returned function is called. */
export function keepLease(lane: FleetLane, clock: Clock, name: SealedName, owner: string): () => void {
  let stop = noop
  const renewLater = (): void => {
    stop = clock.after(
      leaseMs / 4,
      () => {
        lane.renew(name, owner, leaseMs).catch(noop)
        renewLater()
      },
      'in-background',
    )
  }
  renewLater()
  return () => stop()
}

/** Undefined where the fleet is passed by. */
export async function unlessAway<Value>(value: Promise<Value>): Promise<Value | undefined> {
  try {
    return await value
  } catch (thrown) {
    if (thrown instanceof FleetAway) return undefined
    throw thrown
  }
}
