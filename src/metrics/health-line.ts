// Health of a drive in one line: whether programs can work on it as they expect.
import type { HealthLine } from '../drive/interface/control.js'
import { isUnderWay, type MetricSources } from './sources.js'

/** Unhealthy is what a person has to mend, or wait for: an outage, an ended sign-in, edits that wait. */
export function healthOf(
  sources: Pick<MetricSources, 'awayBecause' | 'signedOutBecause' | 'drafts'>,
): HealthLine {
  const waiting = sources.drafts().filter(draft => draft.why !== undefined && !isUnderWay(draft)).length
  const unsaved = waiting > 0 ? 'unsaved' : undefined
  const away = sources.awayBecause()
  if (away !== undefined) return unhealthy(`the service is away: ${away}`, unsaved ?? 'away')
  const signedOut = sources.signedOutBecause()
  if (signedOut !== undefined) return unhealthy(signedOut, unsaved ?? 'signed-out')
  if (unsaved === undefined) return { isHealthy: true, why: 'the service answers, and everything is saved' }
  const edits = waiting === 1 ? 'one edit is' : `${waiting} edits are`
  return unhealthy(`${edits} not saved: calcfs drafts list`, unsaved)
}

const unhealthy = (why: string, trouble: HealthLine['trouble']): HealthLine => ({
  isHealthy: false,
  why,
  trouble,
})
