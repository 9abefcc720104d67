// Catalog entry: one question, its known answer, and how a newer one is requested.
import type { Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import type { Query, QueryCache } from './query.js'

export interface Entry<Answer> {
  /** The answer: at once where it is fresh, else as soon as the service gives it; a stale one where that is away. Never throws, but may reject with a Failure. */
  ask(context: RequestContext): MaybePromise<Answer>
  /** What is known without any request, however old. */
  known(): Answer | undefined
  /** The same, unless a change of this mount or a refresh has asked for a newer one. */
  unexpired(): Answer | undefined
  /** Takes an answer that came by another way: a save read it again. */
  learn(answer: Answer): void
  /** The next question goes to the service; the old answer stays for outages. */
  refresh(): void
  /** Nothing of it is shown any more, not even while the service is away. */
  forget(): void
  /** The failure that keeps the answer old, while it does. */
  stale(): Failure | undefined
}

/** An entry whose answer is that of one query. */
export class QueryEntry<Answer> implements Entry<Answer> {
  constructor(
    private readonly queryCache: QueryCache,
    private readonly query: Query<Answer>,
    /** Is told of an answer that came by another way, before it is taken. */
    private readonly learning: (answer: Answer) => void = () => {},
  ) {}

  ask(context: RequestContext): MaybePromise<Answer> {
    return this.queryCache.ask(this.query, context)
  }

  known(): Answer | undefined {
    return this.queryCache.known(this.query)
  }

  unexpired(): Answer | undefined {
    return this.queryCache.unexpired(this.query)
  }

  learn(answer: Answer): void {
    this.learning(answer)
    this.queryCache.learn(this.query, answer)
  }

  refresh(): void {
    this.queryCache.expire(this.query)
  }

  forget(): void {
    this.queryCache.forget(this.query)
  }

  stale(): Failure | undefined {
    return this.queryCache.staleBecause(this.query.namespace, this.query.key)
  }
}
