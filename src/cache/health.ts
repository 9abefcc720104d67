// Whether the service answers, seen from every question that is asked of it.
import { asFailure, type Failure } from '../failure.js'
import type { Instant, Remote } from '../remote/remote.js'

export interface Health {
  /** The failure that began the present outage, and when; undefined while the service answers. */
  readonly outage: { readonly since: Instant; readonly failure: Failure } | undefined
  readonly asked: number
}

/** Failures that say that the service is away, not that it refuses something. */
const away = new Set<Failure['kind']>(['timeout', 'unreachable', 'untrusted', 'broken', 'busy'])

/** The same remote, watched. */
export function watched(remote: Remote, now: () => Instant): { remote: Remote; health: Health } {
  let outage: Health['outage']
  let asked = 0

  async function note<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    asked += 1
    try {
      const answer = await question()
      outage = undefined
      return answer
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (!away.has(failure.kind)) outage = undefined
      else outage ??= { since: now(), failure }
      throw thrown
    }
  }

  const watching = new Proxy(remote, {
    get(target, name: keyof Remote) {
      const operation = target[name] as (...args: unknown[]) => Promise<unknown>
      return (...args: unknown[]) => note(() => operation(...args))
    },
  })
  return {
    remote: watching,
    health: {
      get outage() {
        return outage
      },
      get asked() {
        return asked
      },
    },
  }
}
