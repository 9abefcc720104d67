// The activity of a mount, for those who ask: the picture of `calcfs top`, the metrics, the health.
import type { ControlParts } from '../drive/context.js'
import type { ActivityPicture, HealthLine } from '../drive/interface/control.js'
import { Failure } from '../failure.js'
import { machineClocks } from '../system/machine-clocks.js'
import { isoText } from '../system/time-text.js'
import { isUnderWay, type MetricSources } from './figures.js'

/** Unhealthy is what a person has to mend, or wait for: an outage, an ended sign-in, edits that wait. */
function healthOf(sources: Pick<MetricSources, 'awayBecause' | 'signedOutBecause' | 'drafts'>): HealthLine {
  const waiting = sources.drafts().filter(draft => draft.why !== undefined && !isUnderWay(draft)).length
  const away = sources.awayBecause()
  if (away !== undefined) return { isHealthy: false, why: `the service is away: ${away}` }
  const signedOut = sources.signedOutBecause()
  if (signedOut !== undefined) return { isHealthy: false, why: signedOut }
  if (waiting === 0) return { isHealthy: true, why: 'the service answers, and no edit waits' }
  const edits = waiting === 1 ? 'one edit is' : `${waiting} edits are`
  return { isHealthy: false, why: `${edits} not saved: calcfs drafts list` }
}

/** Calls that are shown of those under way. */
const callsAtMost = 20

function pictureOf(sources: MetricSources): ActivityPicture {
  const { activity, drive } = sources
  const drafts = sources.drafts()
  const { files, bytes, limitBytes } = sources.cache()
  return {
    ...drive,
    at: isoText(sources.now()),
    since: isoText(sources.since),
    awayBecause: sources.awayBecause(),
    signedOutBecause: sources.signedOutBecause(),
    calls: [...activity.calls.tallies].map(({ of, count, milliseconds, outcomes }) => ({
      ...of,
      count,
      failed: count - (outcomes.get('OK') ?? 0),
      milliseconds,
    })),
    underWay: callsUnderWay(activity),
    requests: [...activity.requests.tallies].map(({ of, milliseconds, outcomes }) => ({
      ...of,
      outcomes: Object.fromEntries(outcomes),
      milliseconds,
    })),
    requestsUnderWay: activity.requests.underWay,
    received: activity.requests.bytes,
    downloads: sources.downloads(),
    saves: drafts.filter(isUnderWay),
    waiting: drafts.filter(draft => !isUnderWay(draft)),
    cache: { ...activity.cache, files, bytes, limitBytes },
    foreseen: activity.foresight.counts,
  }
}

function callsUnderWay({ calls }: MetricSources['activity']): ActivityPicture['underWay'] {
  const now = machineClocks.monotonic()
  return [...calls.underWay]
    .toSorted((one, other) => one.began - other.began)
    .slice(0, callsAtMost)
    .map(call => ({
      verb: call.verb,
      path: call.path,
      milliseconds: Math.round(now - call.began),
      waitsFor: call.since(call.began).findLast(({ ended }) => ended === undefined)?.request,
    }))
}

/** A package manager may have put another version in its place. @throws Failure */
function replaced(cause: unknown): never {
  throw new Failure(
    'unsupported',
    'calcfs was updated or removed since this drive was mounted; unmount it and mount it again for its metrics',
    { cause },
  )
}

/** The library is loaded, and histograms begin, when the metrics are first asked for. */
export function openWatch(sources: MetricSources): ControlParts['watch'] {
  let printing: Promise<() => Promise<string>> | undefined

  return {
    activity: async () => pictureOf(sources),
    async metrics() {
      printing ??= import('./exposition.js').then(({ openExposition }) => openExposition(sources), replaced)
      return { text: await (await printing)() }
    },
    health: async () => healthOf(sources),
  }
}
