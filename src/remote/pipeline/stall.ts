// Stalled bodies: one that hardly advances is cut and resumed on another connection once another reader waits for it.
import { Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import type { Askers } from '../askers.js'
import type { Clock } from '../clock.js'
import type { TrafficClass } from './priority-limiter.js'

/** Events of one body in transit. */
export interface BodyProgress {
  /** Its reader waits for the next piece. */
  waiting(): void
  /** Its reader waits no longer. */
  arrived(): void
  consumed(bytes: number): void
  end(): void
}

/** Of an answer without a body. */
export const noBody: BodyProgress = { waiting: noop, arrived: noop, consumed: noop, end: noop }

interface StallPorts {
  readonly clock: Clock
  readonly askers: Askers | undefined
  readonly weight: TrafficClass
  /** Milliseconds after which a silence is unusual here. */
  readonly unusual: () => number
  readonly abort: (reason: Failure) => void
}

/** Milliseconds without a piece. */
const stillMs = 1_000
/** Data that arrived while this process itself was busy is read first. */
const busyGrace = 50
/** Bytes a millisecond below which a body is slow; a short answer is worth fewer tries than a long download that goes on. */
const slowBytesPerMs = { question: 4, download: 16 }
/** Milliseconds between two cuts of what is slow: doubled each time, for a slow link stays slow, until there was a pause. */
const slowCutEvery = 1_000
const slowCutAtMost = { question: 2_000, download: 60_000 }
const slowCutPause = 60_000

const slowCuts = new WeakMap<Askers, { readonly at: number; readonly every: number }>()

/** Watches the pieces of a body until it ends. */
export function watchBody({ clock, askers, weight, unusual, abort }: StallPorts): BodyProgress {
  let waitingSince: number | undefined
  // Only time counts in which the reader waits: the reader may be delayed by its own memory or bandwidth.
  let waited = 0
  let bytes = 0
  let stillSince: number | undefined
  let lookOff: (() => void) | undefined

  function cut(sentence: string): void {
    const cause = new Error('replaced by another connection')
    abort(new Failure('unreachable', sentence, { cause }))
  }

  const asked = (what: 'came' | 'left'): void => {
    if (what === 'came') look()
  }

  /** A stall that began a moment ago is checked again while the reader waits. */
  function look(): void {
    lookOff?.()
    lookOff = undefined
    if (askers?.waiting !== true) return
    const now = clock.now()
    const still = waitingSince === undefined ? 0 : now - waitingSince
    const patience = Math.max(stillMs, unusual())
    if (still >= patience) {
      stillSince ??= now
      if (now - stillSince >= busyGrace) cut('the answer stalled')
      else lookOff = clock.after(busyGrace, look)
      return
    }
    if (waited + still >= stillMs) {
      const isSlow = bytes / (waited + still) < slowBytesPerMs[weight]
      waited = -still
      bytes = 0
      if (isSlow && mayCutSlow(askers, { now, most: slowCutAtMost[weight] })) {
        cut('the answer came too slowly')
        return
      }
    }
    lookOff = clock.after(patience, look)
  }

  const unwatch = askers?.watch(asked)
  return {
    waiting() {
      waitingSince = clock.now()
    },
    arrived() {
      if (waitingSince !== undefined) waited += clock.now() - waitingSince
      waitingSince = undefined
      stillSince = undefined
    },
    consumed(count) {
      bytes += count
    },
    end() {
      unwatch?.()
      lookOff?.()
    },
  }
}

function mayCutSlow(askers: Askers, { now, most }: { now: number; most: number }): boolean {
  const last = slowCuts.get(askers)
  if (last === undefined || now - last.at > slowCutPause)
    slowCuts.set(askers, { at: now, every: slowCutEvery })
  else if (now - last.at < last.every) return false
  else slowCuts.set(askers, { at: now, every: Math.min(most, last.every * 2) })
  return true
}
