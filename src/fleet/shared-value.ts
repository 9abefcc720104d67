// Shared value: the fleet's answer to a question, or a lease to ask the service for all, or a wait for the one who asks.
import { type Clock, sleep } from '../remote/clock.js'
import { type Instant, instant } from '../remote/remote.js'
import { Lease, type LeasePorts } from './lease.js'
import type { Opened, Seal, SealedName } from './seal.js'
import type { ValueLength } from './store.js'

export interface SharedValuePorts extends LeasePorts {
  readonly seal: Seal
}

/** What is looked for in the fleet. */
export interface Wanted<Answer> {
  readonly name: SealedName
  readonly length: ValueLength
  /** For how much longer a value must count, in milliseconds. */
  readonly leftMs: number
  /** Another daemon's answer is waited for until then. */
  readonly waitsUntil: Instant
  /** Undefined where it does not count. */
  unpack(opened: Opened): Answer | undefined
}

/** One question: how it is asked, and its form in the fleet. */
export interface SharedQuestion<Answer> {
  readonly name: SealedName
  /** Half of the time until then is for another daemon's answer: the rest is for asking the service. */
  readonly deadline: Instant
  readonly leftMs?: number
  ask(): Promise<Answer>
  /** What others get of it, and for how many milliseconds from its question on; undefined for what they ask for themselves. */
  pack(answer: Answer): { readonly plain: Uint8Array; readonly livesMs: number } | undefined
  unpack(opened: Opened): Answer | undefined
}

/** Milliseconds between two looks for another daemon's answer: longer each time. */
const [firstPauseMs, longestPauseMs] = [10, 250]
/** Of values that do not count, so many are passed over before the service is asked alone. */
const uselessAtMost = 2

/** The value, or a lease; undefined where the service is to be asked without the fleet. */
export async function takenFrom<Answer>(
  ports: SharedValuePorts,
  { name, length, waitsUntil, unpack, ...wanted }: Wanted<Answer>,
): Promise<{ readonly answer: Answer } | Lease | undefined> {
  const { clock, counts, seal } = ports
  const lease = new Lease(ports, name, length)
  let { leftMs } = wanted
  let pauseMs = firstPauseMs
  for (let useless = 0; useless <= uselessAtMost; ) {
    const taken = await lease.take(leftMs)
    if (taken === undefined) return undefined
    if (taken.is === 'leased') return lease
    if (taken.is === 'there') {
      const opened = seal.open(name, taken.value)
      const answer = opened && unpack(opened)
      if (opened === undefined) counts.wrong += 1
      if (answer !== undefined) {
        counts.hits += 1
        counts.received += taken.value.length
        return { answer }
      }
      useless += 1
      // Asked for again it is a lease: the next value takes its place.
      leftMs = Math.max(leftMs, taken.leftMs)
    } else {
      if (clock.now() + pauseMs > waitsUntil) return undefined
      await sleep(clock, pauseMs)
      pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)
    }
  }
  return undefined
}

/** Rejects with what the question itself rejects with; the fleet's own troubles only make it ask the service. */
export async function sharedValue<Answer>(
  ports: SharedValuePorts,
  question: SharedQuestion<Answer>,
): Promise<Answer> {
  const { name, deadline, leftMs = 0 } = question
  if (ports.store.breaker.why !== undefined) return question.ask()
  const waitsUntil = halfway(ports.clock, deadline)
  const unpack = (opened: Opened): Answer | undefined => question.unpack(opened)
  const taken = await takenFrom(ports, { name, length: 'short', leftMs, waitsUntil, unpack })
  if (taken === undefined) return question.ask()
  return taken instanceof Lease ? askForAll(ports, question, taken) : taken.answer
}

const halfway = ({ now }: Clock, deadline: Instant): Instant => instant(now() + (deadline - now()) / 2)

async function askForAll<Answer>(
  { clock, seal, counts }: SharedValuePorts,
  question: SharedQuestion<Answer>,
  lease: Lease,
): Promise<Answer> {
  const made = clock.now()
  counts.asked += 1
  try {
    const answer = await question.ask()
    const packed = question.pack(answer)
    const livesMs = (packed?.livesMs ?? 0) - (clock.now() - made)
    if (packed !== undefined && livesMs > 0) lease.put(seal.close(question.name, made, packed.plain), livesMs)
    return answer
  } finally {
    lease.release()
  }
}
