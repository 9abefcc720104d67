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
  #isResting = true
  /** There may be something to ask for. */
  #isAwake = false
  #underWay = 0
  /** Made late: most walks end without being called off. */
  #control: AbortController | undefined

  /** `next` says what is wanted most at this moment; undefined for nothing. */
  constructor(
    private readonly next: () => PrefetchTask | undefined,
    private readonly room: () => number,
    private readonly now: () => Instant,
  ) {}

  /** The service may have room again. */
  goOn(): void {
    while (this.#isAwake && this.#underWay < this.room()) {
      const task = this.next()
      this.#isAwake = task !== undefined
      if (task !== undefined) void this.#run(task)
    }
  }

  /** There may be something to ask for now. */
  wake(): void {
    this.#isResting = false
    this.nudge()
  }

  /** The same, unless it rests. */
  nudge(): void {
    if (this.#isResting) return
    this.#isAwake = true
    this.goOn()
  }

  /** Asks for nothing more until it is woken; what can be stopped is stopped. */
  rest(): void {
    this.#isResting = true
    this.#isAwake = false
    this.#control?.abort(calledOff)
    this.#control = undefined
  }

  async #run(task: PrefetchTask): Promise<void> {
    const signal = this.#signal()
    this.#underWay += 1
    try {
      await task(dueIn(patienceMs, { now: this.now }, 'guess'), signal)
    } catch (thrown) {
      // A guess that fails costs nothing: the program's own call gets the failure.
      // A service in trouble is asked for nothing more that no program waits for.
      if (isA('strain', asFailure(thrown)) && !signal.aborted) this.rest()
    } finally {
      this.#underWay -= 1
      this.#isAwake ||= !signal.aborted
      this.goOn()
    }
  }

  #signal(): AbortSignal {
    if (this.#control === undefined) {
      this.#control = new AbortController()
      // More guesses than the ten that Node warns of hear it.
      setMaxListeners(0, this.#control.signal)
    }
    return this.#control.signal
  }
}

/** Made once: an exception of its own for each walk that ends takes longer than the rest of its end. */
const calledOff = new Error('the guess was called off')
