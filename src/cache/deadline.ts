// How long a question waits for something that goes on without it.
import { Failure } from '../failure.js'
import type { Instant, RequestContext } from '../remote/remote.js'

/**
 * The answer if it comes before the ask's deadline, else Failure 'timeout' with this sentence; what was waited for goes
 * on, and its later failure is nobody's.
 */
export function untilDeadline<Answer>(
  context: RequestContext,
  patience: { readonly now: () => Instant; readonly sentence: string },
  answer: Promise<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Failure('timeout', patience.sentence))
    const timer = setTimeout(late, Math.max(0, context.deadline - patience.now()))
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
