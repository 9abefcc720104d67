// Watching control: what goes on, the metrics, the health and the log.
import type { Control } from '../interface/control.js'
import type { ControlParts } from './context.js'

export function openWatchControl({
  watch,
}: Pick<ControlParts, 'watch'>): Pick<Control, 'activity' | 'metrics' | 'health' | 'log'> {
  return {
    activity: async () => watch.picture(),
    metrics: async () => ({ text: await watch.metrics() }),
    health: async () => watch.health(),
    log: async ({ after }) => watch.log(after),
  }
}
