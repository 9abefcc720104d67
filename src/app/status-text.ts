// Status of a mount for users and scripts, from memory alone: what status.json says.
import type { Activity } from '../activity/activity.js'
import type { ContentCache } from '../cache/content/content.js'
import { type Health, signInEnded } from '../cache/health.js'
import type { Identities } from '../cache/identity.js'
import type { Config } from '../config/config.js'
import type { FailureLog } from '../drive/failure-log.js'
import type { PinLine, Status } from '../drive/interface/control.js'
import type { KernelNews } from '../drive/interface/kernel-news.js'
import type { Roots } from '../drive/names/roots.js'
import { isUsersOwn } from '../drive/nodes/well-known-names.js'
import { type DraftFiles, draftFacts } from '../drive/records/draft-files.js'
import type { ScratchFiles } from '../drive/records/scratch-files.js'
import type { Burst } from '../drive/removal/burst.js'
import { waitingRemovals } from '../drive/removal/removals.js'
import { asFailure } from '../failure.js'
import type { Fleet } from '../fleet/fleet.js'
import { fixedNames } from '../layout.js'
import { dueIn } from '../remote/clock.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import type { Account } from './account/account.js'
import type { SignInFacts } from './connect.js'
import type { DirectoryTroubles } from './own-places.js'

export interface StatusSources {
  readonly account: Account
  readonly config: Config
  readonly mountPoint: string
  /** The socket for the command line; undefined where there is none. */
  readonly control: string | undefined
  readonly since: Instant
  readonly version: string
  readonly signIn: () => SignInFacts
  /** The operations that the instance lacks, and what follows. */
  readonly lacking: () => readonly string[]
  readonly health: Health
  readonly content: ContentCache
  readonly drafts: DraftFiles
  readonly failures: FailureLog
  readonly identities: Identities
  readonly burst: Burst
  /** What lies in a directory and is kept on this machine alone. */
  readonly scratch: Pick<ScratchFiles, 'entries'>
  readonly news: Pick<KernelNews, 'told'>
  readonly activity: Pick<Activity, 'kernel' | 'pauses'>
  /** Undefined where the mount shares nothing. */
  readonly fleet: Pick<Fleet, 'status'> | undefined
  /** How much of what is pinned is here. */
  readonly pins: () => readonly PinLine[]
  readonly now: () => Instant
}

/** The limit of paths listed that were removed and are there again. */
const inVainAtMost = 20

/** The limit of files listed that stay on this machine. */
const keptHereAtMost = 20

/** Milliseconds a status waits for the service. */
const statusPatience = 1000
/** The same where the service is to be checked: with the start of the command less than three seconds. A slow service is not away. */
const checkPatience = 2400

/** `check` sends a request to the service first. */
export type StatusNow = (check?: boolean) => Promise<Status>

/** A status is needed when things go wrong: it does not wait for a service that is away. */
export function openStatus(
  sources: StatusSources,
  { roots, places }: { readonly roots: Roots; readonly places: DirectoryTroubles },
): StatusNow {
  const within = (patience: number): RequestContext => dueIn(patience, sources)
  return async (check = false) => {
    const checked = check ? sources.health.check(within(checkPatience)) : undefined
    const top = await roots.top(within(statusPatience)).then(
      top => roots.explain(top),
      (thrown: unknown) => asFailure(thrown).message,
    )
    await checked
    return statusOf(sources, top, await places.look())
  }
}

/** `top` states what is at the top of projects/, or why that is unknown; `places` the problems of own directories. */
function statusOf(sources: StatusSources, top: string, places: readonly string[]): Status {
  const { account, config, health, content, drafts, failures: failureLog } = sources
  const time = (at: number): string => new Date(at).toISOString()
  return {
    service: account.base.href,
    user: account.user,
    mountPoint: sources.mountPoint,
    access: config.access,
    pid: process.pid,
    control: sources.control,
    at: time(sources.now()),
    version: sources.version,
    since: time(sources.since),
    top,
    answers: health.outage === undefined,
    ...(health.outage === undefined
      ? {}
      : { awaySince: time(health.outage.since), awayBecause: health.outage.failure.message }),
    signedIn: health.signedOut === undefined,
    ...(health.signedOut === undefined
      ? {}
      : {
          signedOutSince: time(health.signedOut.since),
          signedOutBecause: signInEnded(health.signedOut.failure),
        }),
    ...signInFields(sources.signIn()),
    lacking: sources.lacking(),
    requests: health.asked,
    kernel: sources.activity.kernel.way,
    kernelBecause: sources.activity.kernel.because,
    kernelTold: sources.news.told,
    ...pauseFields(sources),
    answersInMs: health.answersIn,
    ...(sources.fleet === undefined ? {} : { fleet: fleetFacts(sources.fleet) }),
    cache: content.stats(),
    pins: sources.pins().map(({ since, ...pin }) => ({ ...pin, since: time(since) })),
    otherThings: sources.identities.count,
    unsent: drafts.list().map(one => {
      const { name, record, path, state, since, why, whatToDo } = draftFacts(one)
      return { name, record, path, state, since: time(since), why, whatToDo }
    }),
    deleting: waitingRemovals(sources).map(({ since, ...one }) => ({ ...one, since: time(since) })),
    keptHere: keptHere(sources.scratch).slice(0, keptHereAtMost),
    removedInVain: failureLog.removedInVain().slice(0, inVainAtMost),
    places,
    lastFailure: failureLog.last,
    state: account.places.state,
    cacheDirectory: account.places.cache,
  }
}

function pauseFields({ activity, now }: StatusSources): object {
  const longest = activity.pauses.longest()
  if (longest === undefined) return {}
  return { pausedMs: Math.round(longest.milliseconds), pausedAt: new Date(now() - longest.ago).toISOString() }
}

/** Paths of what a user has put among the reports under a name that makes none. */
const keptHere = (scratch: StatusSources['scratch']): readonly string[] =>
  scratch
    .entries(fixedNames.reports)
    .flatMap(({ name, node }) =>
      node.kind === 'scratch' && isUsersOwn(name) ? [`/${fixedNames.reports}/${name}`] : [],
    )

function signInFields({ until, renewed }: SignInFacts): object {
  return {
    signedInUntil: until === undefined ? undefined : new Date(until).toISOString(),
    signInRenewed: renewed,
  }
}

/** What this mount knows of its fleet without a question: `saved` and `asked` are its own. */
function fleetFacts(fleet: Pick<Fleet, 'status'>): Status['fleet'] {
  const { address, nodes, hits, asked, away } = fleet.status()
  return { address, mounts: nodes, saved: hits, asked, passedByBecause: away }
}
