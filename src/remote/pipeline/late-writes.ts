// A change that is not answered in time stays on its connection, and the next change of the same thing waits for its answer.
import type { Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import { type Clock, withDeadline } from '../clock.js'
import type { Exchange, IncomingResponse } from '../connection/exchange.js'
import type { RequestContext } from '../remote.js'

/** What a change is about, such as `report 42`; of what is to be made, its kind. */
export type Subject = string

export interface LateWrites {
  /** Resolves when no earlier change of it is unanswered: true if one was. @throws Failure 'timeout' at the deadline */
  settled(subject: Subject, context: RequestContext): Promise<boolean>
  /** The response; at the deadline a rejection with `late`, and the exchange goes on by itself. */
  response(exchange: Exchange, sent: SentWrite): Promise<IncomingResponse>
}

export interface SentWrite {
  readonly subject: Subject
  readonly context: RequestContext
  readonly late: () => Failure
}

/** So many at most stay open; the oldest gives way. */
export const lateAtMost = 8
/** Milliseconds after its deadline in which an answer is still waited for. */
const lateForMs = 60_000

const unanswered = 'an earlier change of it was sent and is not answered yet: nothing is sent before that'

export function openLateWrites(clock: Clock): LateWrites {
  const late = new Map<Exchange, { readonly subject: Subject; readonly end: Promise<void> }>()

  function keep(exchange: Exchange, { subject, late: reason }: SentWrite): void {
    const [oldest] = late.size < lateAtMost ? [] : late.keys()
    oldest?.abort(reason())
    const callOff = clock.after(lateForMs, () => exchange.abort(reason()))
    const end = exchange.response
      .then(({ bytes }) => void bytes.destroy(), noop)
      .finally(() => {
        callOff()
        late.delete(exchange)
      })
    late.set(exchange, { subject, end })
  }

  return {
    async settled(subject, context) {
      const before = [...late.values()].filter(one => one.subject === subject).map(({ end }) => end)
      if (before.length === 0) return false
      await withDeadline(Promise.all(before), context, clock, unanswered)
      return true
    },
    async response(exchange, sent) {
      let callOff = noop
      const expired = new Promise<never>((_, reject) => {
        callOff = clock.after(sent.context.deadline - clock.now(), () => {
          const reason = sent.late()
          // What waits for its connection still has not left.
          if (exchange.sent()) keep(exchange, sent)
          else exchange.abort(reason)
          reject(reason)
        })
      })
      try {
        return await Promise.race([exchange.response, expired])
      } finally {
        callOff()
      }
    },
  }
}
