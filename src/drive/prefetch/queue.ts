// Prefetch queue: as many guesses side by side as the service has room for, each decided on when its turn comes.
import { setMaxListeners } from 'node:events'
import { asFailure, isA } from '../../failure.js'
import { dueIn } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'

/** Asks ahead; `signal` ends it once it is not wanted any more. */
export type PrefetchTask = (context: RequestContext, signal: AbortSignal) => Promise<unknown>

/** Milliseconds after which a guess has come too late anyway. */
const patienceMs = 30_000

export class PrefetchQueue {
  /** Those that do not rest. */
  readonly #all = new Set<PrefetchSource>()
  /** Those of them that may have something to ask for; the first is next, and goes to the end of the line. */
  readonly #awake = new Set<PrefetchSource>()
  #underWay = 0

  constructor(
    private readonly room: () => number,
    private readonly now: () => Instant,
  ) {}

  /** The service may have room again. */
  goOn(): void {
    while (this.#awake.size > 0 && this.#underWay < this.room()) if (!this.#startNext()) return
  }

  /** There may be something to ask for now. */
  wake(source: PrefetchSource): void {
    this.#all.add(source)
    this.nudge(source)
  }

  /** The same, unless it rests. */
  nudge(source: PrefetchSource): void {
    if (!this.#all.has(source)) return
    this.#awake.add(source)
    this.goOn()
  }

  /** Asks for nothing more until it is woken; what can be stopped is stopped. */
  rest(source: PrefetchSource): void {
    this.#all.delete(source)
    this.#awake.delete(source)
    source.abort()
  }

  #startNext(): boolean {
    for (const source of [...this.#awake]) {
      this.#awake.delete(source)
      const task = source.next()
      if (task === undefined) continue
      this.#awake.add(source)
      void this.#run(task, source)
      return true
    }
    return false
  }

  async #run(task: PrefetchTask, source: PrefetchSource): Promise<void> {
    const signal = source.signal()
    this.#underWay += 1
    try {
      await task(dueIn(patienceMs, { now: this.now }, 'guess'), signal)
    } catch (thrown) {
      // A guess that fails costs nothing: the program's own call gets the failure.
      // A service in trouble is asked for nothing more that no program waits for.
      if (isA('strain', asFailure(thrown)) && !signal.aborted)
        for (const other of [...this.#all]) this.rest(other)
    } finally {
      this.#underWay -= 1
      if (!signal.aborted) this.#awake.add(source)
      this.goOn()
    }
  }
}

/** Guesses that stand or fall together: those of one walk, or of one folder. */
export class PrefetchSource {
  /** Made late: most sources end without a single guess, or without being called off. */
  #control: AbortController | undefined

  /** `next` says what is wanted most at this moment; undefined for nothing. */
  constructor(readonly next: () => PrefetchTask | undefined) {}

  signal(): AbortSignal {
    if (this.#control === undefined) {
      this.#control = new AbortController()
      // More guesses than the ten that Node warns of hear it.
      setMaxListeners(0, this.#control.signal)
    }
    return this.#control.signal
  }

  abort(): void {
    this.#control?.abort(calledOff)
    this.#control = undefined
  }
}

/** Made once: an exception of its own for each walk that ends takes longer than the rest of its end. */
const calledOff = new Error('the guess was called off')
