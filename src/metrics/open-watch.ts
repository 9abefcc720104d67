// What goes on in a mount, for those who ask: the picture of `calcfs top`, the metrics, the health, the log.
import type { WatchControl } from '../drive/control/context.js'
import { Failure } from '../failure.js'
import type { LogReader } from '../terminal/log.js'
import { healthOf } from './health-line.js'
import { pictureOf } from './picture.js'
import type { MetricSources } from './sources.js'

/** A package manager may have put another version in its place. @throws Failure */
function replaced(cause: unknown): never {
  throw new Failure(
    'unsupported',
    'calcfs was updated or removed since this drive was mounted; unmount it and mount it again for its metrics',
    { cause },
  )
}

/** The library is loaded, and histograms begin, when the metrics are first asked for. */
export function openWatch(sources: MetricSources, log: LogReader | undefined): WatchControl {
  let printing: Promise<() => Promise<string>> | undefined

  return {
    picture: () => pictureOf(sources),
    async metrics() {
      printing ??= import('./exposition.js').then(({ openExposition }) => openExposition(sources), replaced)
      return (await printing)()
    },
    health: () => healthOf(sources),
    log: after => log?.after(after) ?? { lines: [], next: 0 },
  }
}
