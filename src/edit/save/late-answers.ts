// Late answers: a change that is seen to be carried out is no longer waited for.
import type { RequestContext } from '../../remote/remote.js'

export interface LateAnswers {
  /** The same request, of which a late answer is noted here. */
  readonly context: RequestContext
  /** A look has shown that it was carried out. */
  seen(): void
}

export function openLateAnswers(context: RequestContext): LateAnswers {
  const late: (() => void)[] = []
  return {
    context: { ...context, late: end => void late.push(end) },
    seen() {
      for (const end of late) end()
    },
  }
}
