// Prefetch queue: as many guesses side by side as the service has room for, each decided on when its turn comes.
import { setMaxListeners } from 'node:events'
import { asFailure, isA } from '../../failure.js'
import { dueIn } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'

/** Asks ahead; `signal` ends it once it is not wanted any more. */
export type PrefetchTask = (context: RequestContext, signal: AbortSignal) => Promise<unknown>

/** Guesses that stand or fall together: those of one walk, or of one folder. */
export interface PrefetchSource {
  /** There may be something to ask for now. */
  wake(): void
  /** The same, unless it rests. */
  nudge(): void
  /** Asks for nothing more until it is woken; what can be stopped is stopped. */
  rest(): void
}

/** Guesses that were decided on before, in their order. */
export interface PrefetchBatch {
  add(task: PrefetchTask): void
  /** Guesses not begun are forgotten, those that can be stopped are. */
  cancel(): void
}

export interface PrefetchQueue {
  /** `next` says what is wanted most at this moment; undefined for nothing. */
  source(next: () => PrefetchTask | undefined): PrefetchSource
  batch(): PrefetchBatch
  /** The service may have room again. */
  goOn(): void
}

/** Milliseconds after which a guess has come too late anyway. */
const patienceMs = 30_000

interface Asking {
  readonly next: () => PrefetchTask | undefined
  readonly control: { signal: () => AbortSignal; abort(): void }
}

/** `room` is how many guesses may be under way side by side, now. */
export function openPrefetchQueue(room: () => number, now: () => Instant): PrefetchQueue {
  /** Those that do not rest. */
  const all = new Set<Asking>()
  /** Those of them that may have something to ask for; the first is next, and goes to the end of the line. */
  const awake = new Set<Asking>()
  let underWay = 0

  function begin(): void {
    while (awake.size > 0 && underWay < room()) {
      const start = nextTask()
      if (start === undefined) return
      void start()
    }
  }

  function nextTask(): (() => Promise<void>) | undefined {
    for (const asking of [...awake]) {
      awake.delete(asking)
      const task = asking.next()
      if (task === undefined) continue
      awake.add(asking)
      return () => run(task, asking)
    }
    return undefined
  }

  async function run(task: PrefetchTask, asking: Asking): Promise<void> {
    const signal = asking.control.signal()
    underWay += 1
    try {
      await task(dueIn(patienceMs, { now }, 'guess'), signal)
    } catch (thrown) {
      // A guess that fails costs nothing: the program's own call gets the failure.
      // A service in trouble is asked for nothing more that no program waits for.
      if (isA('strain', asFailure(thrown)) && !signal.aborted) for (const other of [...all]) rest(other)
    } finally {
      underWay -= 1
      if (!signal.aborted) awake.add(asking)
      begin()
    }
  }

  function rest(asking: Asking): void {
    all.delete(asking)
    awake.delete(asking)
    asking.control.abort()
  }

  function source(next: () => PrefetchTask | undefined): PrefetchSource {
    const asking: Asking = { next, control: renewedSignal() }
    const nudge = (): void => {
      if (!all.has(asking)) return
      awake.add(asking)
      begin()
    }
    return {
      wake() {
        all.add(asking)
        nudge()
      },
      nudge,
      rest: () => rest(asking),
    }
  }

  function batch(): PrefetchBatch {
    const waiting: PrefetchTask[] = []
    const own = source(() => waiting.shift())
    return {
      add(task) {
        waiting.push(task)
        own.wake()
      },
      cancel() {
        waiting.length = 0
        own.rest()
      },
    }
  }

  return { source, batch, goOn: begin }
}

/** Made once: an exception of its own for each walk that ends takes longer than the rest of its end. */
const calledOff = new Error('the guess was called off')

/** Most sources end without a single guess, or without being called off. */
function renewedSignal(): Asking['control'] {
  let control: AbortController | undefined
  return {
    signal() {
      control ??= signalOfMany()
      return control.signal
    },
    abort() {
      control?.abort(calledOff)
      control = undefined
    },
  }
}

/** More guesses than the ten that Node warns of hear one signal. */
function signalOfMany(): AbortController {
  const control = new AbortController()
  setMaxListeners(0, control.signal)
  return control
}
