// Intentions: several removals that amount to a whole project, or are too many at once, are all refused.
import { parentOf } from '../../layout.js'
import type { DeleteBudget } from './delete-budget.js'
import type { Lineage, Scope } from './lineage.js'
import type { PendingDelete, PendingDeletes } from './pending-deletes.js'
import type { RecursiveDeleteGuard } from './recursive-delete-guard.js'
import type { RemovalSeries } from './removal-series.js'
import type { Whiteouts } from './whiteouts.js'

export interface IntentionParts {
  readonly lineage: Lineage
  readonly series: RemovalSeries
  readonly guard: RecursiveDeleteGuard
  readonly whiteouts: Whiteouts
  readonly pending: PendingDeletes
  readonly budget: DeleteBudget
}

export interface Intentions {
  /** Nothing in this scope is deleted for a minute after the last try, nor what waits there. */
  refuseWhole(scope: Scope, directory: string, why: string): void
  takeBackIn(scope: Scope, why: string): readonly PendingDelete[]
  /** Something directly in this scope is tried: with what else was tried in one go it may be the whole scope. */
  judge(scope: Scope | undefined, key: string, directory: string): void
  /** @throws Failure 'not-permitted' once so many went in the last minute; what still waits stays, too */
  refuseBurst(path: string, key: string): void
}

export const itself = 'the project itself was to be removed'

export function openIntentions({
  lineage,
  series,
  guard,
  whiteouts,
  pending,
  budget,
}: IntentionParts): Intentions {
  function refuseWhole(scope: Scope, directory: string, why: string): void {
    guard.begin(scope, directory, why)
    whiteouts.clearIn(scope)
    takeBackIn(scope, `${directory}: ${why}`)
  }

  function takeBackIn(scope: Scope, why: string): readonly PendingDelete[] {
    const isIn = ({ scopes }: PendingDelete): boolean =>
      scope === 'all' || scopes.includes(scope) || (scope !== 'reports' && scopes.includes('unknown'))
    return pending.takeBack(isIn, why)
  }

  function judge(scope: Scope | undefined, key: string, directory: string): void {
    if (scope === undefined || scope === 'unknown') return
    series.tried(scope, key)
    const why = sign(scope)
    if (why !== undefined) refuseWhole(scope, directory, why)
  }

  function sign(scope: Scope): string | undefined {
    const tried = series.triedIn(scope)
    if (tried.has(scope)) return itself
    const kinds = new Set([...tried].map(key => key.slice(0, key.lastIndexOf(' '))))
    if (kinds.size > 1) return 'things of several kinds in it were to be removed together'
    const listed = lineage.calculationsIn(scope)
    const isAll = listed.length > 1 && listed.every(key => tried.has(key))
    return isAll ? 'all of its calculations were to be removed together' : undefined
  }

  function refuseBurst(path: string, key: string): void {
    if (budget.take(key)) return
    const why = `more than ${budget.perMinute} deletions a minute (--max-deletes)`
    refuseWhole('all', parentOf(path), why)
    guard.refuse(path, ['all'])
  }

  return { refuseWhole, takeBackIn, judge, refuseBurst }
}
