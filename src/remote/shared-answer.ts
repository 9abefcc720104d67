// One request for all callers that need its answer now: each waits by its own deadline, and a silent one is sent once more.
import { openSingleFlight } from '../single-flight.js'
import { joinFor, openAskers } from './askers.js'
import { type Clock, dueIn, withDeadline } from './clock.js'
import { type RequestContext, requestLogOf } from './remote.js'

/** Milliseconds that the request itself may take: its first caller may give up at any moment, or have a minute. */
const limitMs = 60_000

export interface SharedAnswer<Answer> {
  /** The answer of the request under way, begun now if there is none. @throws Failure 'timeout' with `late` at the caller's deadline */
  join(context: RequestContext): Promise<Answer>
  /** Whether a request is under way. */
  readonly underWay: boolean
}

/** `question` is sent for callers, and in the background while none of them waits. */
export function openSharedAnswer<Answer>(
  clock: Clock,
  late: string,
  question: (context: RequestContext) => Promise<Answer>,
): SharedAnswer<Answer> {
  const askers = openAskers()
  const flight = openSingleFlight<Answer>()

  return {
    get underWay() {
      return flight.isUnderWay
    },
    async join(context) {
      const answer = flight.ask(() =>
        question({ ...dueIn(limitMs, clock), askers, holdsSlot: context.holdsSlot }),
      )
      const { askers: own, priority } = context
      requestLogOf(context)?.join(askers.requests)
      const leave = joinFor(askers, own, () => own?.waiting ?? priority === 'user')
      try {
        return await withDeadline(answer, context, clock, late)
      } finally {
        leave()
      }
    },
  }
}
