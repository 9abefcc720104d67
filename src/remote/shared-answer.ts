// One request for all callers that need its answer now: each waits by its own deadline, and a silent one is sent once more.
import { asFailure, type Failure } from '../failure.js'
import { SingleFlight } from '../maybe-promise.js'
import { Askers } from './askers.js'
import { type Clock, dueIn, withDeadline } from './clock.js'
import { type RequestContext, requestLogOf } from './remote.js'

/** Milliseconds that a shared request itself may take: its first caller may give up at any moment, or have a minute. */
export const behindMs = 60_000

export class SharedAnswer<Answer> {
  readonly #askers = new Askers()
  readonly #flight = new SingleFlight<Answer>()

  /** @param question is sent for callers, and in the background while none of them waits */
  constructor(
    private readonly clock: Clock,
    private readonly late: string,
    private readonly question: (context: RequestContext) => Promise<Answer>,
  ) {}

  /** As `join`, but the failure of a request that was under way before says nothing of one that is sent now, unless it counts. */
  async joinAnew(context: RequestContext, counts: (failure: Failure) => boolean): Promise<Answer> {
    const wasUnderWay = this.#flight.isUnderWay
    try {
      return await this.join(context)
    } catch (thrown) {
      if (!wasUnderWay || counts(asFailure(thrown)) || this.clock.now() >= context.deadline) throw thrown
      return this.join(context)
    }
  }

  /** The answer of the request under way, begun now if there is none. @throws Failure 'timeout' with `late` at the caller's deadline */
  async join(context: RequestContext): Promise<Answer> {
    const askers = this.#askers
    const answer = this.#flight.ask(() =>
      this.question({ ...dueIn(behindMs, this.clock), askers, holdsSlot: context.holdsSlot }),
    )
    const { askers: own, priority } = context
    requestLogOf(context)?.join(askers.requests)
    let leave: (() => void) | undefined
    // Each new caller of a request that has callers of its own is a new one here, too.
    const look = (): void => {
      const before = leave
      leave = (own?.waiting ?? priority === 'user') ? askers.join() : undefined
      before?.()
    }
    const unwatch = own?.watch(look)
    look()
    try {
      return await withDeadline(answer, context, this.clock, this.late)
    } finally {
      unwatch?.()
      leave?.()
    }
  }
}
