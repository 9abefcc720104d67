// Entry of the catalog: one question, and all that can be done with what is known of its answer.
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { Query } from './query.js'
import type { QueryCache } from './query-cache.js'

/** One question at the cache. */
export class QueryEntry<Answer> {
  readonly #learning: ((answer: Answer) => void) | undefined

  /** @param learning is told of an answer that came by another way, before it is taken */
  constructor(
    private readonly cache: QueryCache,
    private readonly query: Query<Answer>,
    learning?: (answer: Answer) => void,
  ) {
    this.#learning = learning
  }

  /** The answer: at once where it is fresh, else as soon as the service gives it; a stale one where that is away. Never throws, but may reject with a Failure. */
  ask(context: RequestContext): MaybePromise<Answer> {
    return this.cache.ask(this.query, context)
  }

  /** What is known without any request, however old. */
  known(): Answer | undefined {
    return this.cache.known(this.query)
  }

  /** The same, unless a change of this mount or a refresh has asked for a newer one. */
  unexpired(): Answer | undefined {
    return this.cache.unexpired(this.query)
  }

  /** Until when an ask is answered at once and sends nothing; 0 where it is not. */
  freshUntil(): Instant {
    return this.cache.freshUntil(this.query)
  }

  /** Takes an answer that came by another way: a save read it again. */
  learn(answer: Answer): void {
    this.#learning?.(answer)
    this.cache.learn(this.query, answer)
  }

  /** The next question goes to the service; the old answer stays for outages. */
  refresh(): void {
    this.cache.expire(this.query)
  }

  /** Nothing of it is shown any more, not even while the service is away. */
  forget(): void {
    this.cache.forget(this.query)
  }

  /** The failure that keeps the answer old, while it does. */
  stale(): Failure | undefined {
    return this.cache.staleBecause(this.query)
  }
}

/** What asks for it: of one question, or of several whose answers are one. */
export type Entry<Answer> = Pick<QueryEntry<Answer>, keyof QueryEntry<Answer>>
