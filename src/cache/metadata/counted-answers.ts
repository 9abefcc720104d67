// Query cache, counted: how many answers were known, how many were asked for, and which foreseen ones were used.
import type { Activity } from '../../activity/activity.js'
import type { MaybePromise } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import { nameOf, type Query, type QueryCache } from './query.js'

/** The same query cache; a foreseen answer is used where it is known when a user asks, and wasted where it has to be asked for again. */
export function withCountedAnswers(
  cache: QueryCache,
  { cache: use, foresight }: Pick<Activity, 'cache' | 'foresight'>,
): QueryCache {
  /** Asked ahead, and not answered yet. */
  const guessed = new Set<string>()

  /** A user that joins a request of foresight waits for less than its own would take. */
  function joined(name: string): void {
    if (!guessed.delete(name)) return
    foresight.brought(name, 0)
    foresight.used(name)
  }

  function foreseen(name: string, answer: Promise<unknown>): void {
    if (guessed.has(name)) return
    guessed.add(name)
    answer.then(
      () => {
        if (guessed.delete(name)) foresight.brought(name, 0)
      },
      () => guessed.delete(name),
    )
  }

  function ask<Answer>(query: Query<Answer>, context: RequestContext): MaybePromise<Answer> {
    const soon = cache.ask(query, context)
    const isAsked = soon instanceof Promise
    if (context.priority === 'user') {
      if (isAsked) use.answersAsked += 1
      else use.answersKnown += 1
    }
    const name = query.name ?? nameOf(query.namespace, query.key)
    if (!isAsked) {
      if (context.priority === 'user') foresight.used(name)
      return soon
    }
    foresight.dropped(name)
    if (context.priority === 'user') joined(name)
    else foreseen(name, soon)
    return soon
  }

  return { ...cache, ask }
}
