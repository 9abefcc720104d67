// Picture of what goes on in a drive at one moment, for `calcfs top`.
import type { ActivityPicture } from '../drive/interface/control.js'
import { machineClocks } from '../system/machine-clocks.js'
import { isUnderWay, type MetricSources } from './sources.js'

/** Calls that are shown of those under way. */
const callsAtMost = 20

export function pictureOf(sources: MetricSources): ActivityPicture {
  const { activity, drive } = sources
  const drafts = sources.drafts()
  return {
    ...drive,
    at: sources.now(),
    since: sources.since,
    awayBecause: sources.awayBecause(),
    signedOutBecause: sources.signedOutBecause(),
    calls: [...activity.calls.tallies].map(({ verb, count, milliseconds, outcomes }) => ({
      verb,
      count,
      failed: count - (outcomes.get('OK') ?? 0),
      seconds: milliseconds / 1000,
    })),
    underWay: callsUnderWay(activity),
    requests: [...activity.requests.tallies].map(({ method, endpoint, milliseconds, outcomes }) => ({
      method,
      endpoint,
      outcomes: Object.fromEntries(outcomes),
      seconds: milliseconds / 1000,
    })),
    requestsUnderWay: activity.requests.underWay,
    received: activity.requests.bytes,
    downloads: sources.downloads(),
    saves: drafts.filter(isUnderWay),
    waiting: drafts.filter(draft => !isUnderWay(draft)),
    cache: { ...activity.cache, ...keptFiles(sources) },
    foreseen: activity.foresight.counts,
  }
}

function keptFiles(sources: MetricSources): Pick<ActivityPicture['cache'], 'files' | 'bytes' | 'limitBytes'> {
  const { files, bytes, limitBytes } = sources.cache()
  return { files, bytes, limitBytes }
}

function callsUnderWay({ calls }: MetricSources['activity']): ActivityPicture['underWay'] {
  const now = machineClocks.monotonic()
  return [...calls.underWay]
    .toSorted((one, other) => one.began - other.began)
    .slice(0, callsAtMost)
    .map(({ verb, path, began, requests }) => ({
      verb,
      path,
      milliseconds: Math.round(now - began),
      waitsFor: requests.since(began).findLast(({ ended }) => ended === undefined)?.request,
    }))
}
