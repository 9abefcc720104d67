// Status of a mount for users and scripts, from memory alone: what status.json says.
import { signInEnded } from '../cache/health.js'
import type { FailureLog } from '../drive/failure-log.js'
import type { Status } from '../drive/interface/control.js'
import { isUsersOwn } from '../drive/nodes/well-known-names.js'
import type { Pins } from '../drive/pins/pins.js'
import { draftFacts } from '../drive/records/draft-files.js'
import { waitingRemovals } from '../drive/removals.js'
import type { WriteSide } from '../drive/write-side.js'
import { asFailure } from '../failure.js'
import { fixedNames } from '../layout.js'
import { dueIn } from '../remote/clock.js'
import { isoText } from '../system/time-text.js'
import { version } from '../terminal/package-root.js'
import type { AssemblySettings } from './assembly-settings.js'
import type { Caches, Journal } from './build-stores.js'
import type { DirectoryTroubles } from './own-places.js'

/** Read at the start: the package of a drive that runs on may be removed. */
const ownVersion = version()

interface StatusSources {
  readonly settings: AssemblySettings
  readonly caches: Caches
  readonly journal: Journal
  readonly writeSide: WriteSide
  readonly failureLog: FailureLog
  readonly places: DirectoryTroubles
  readonly pins: Pins
}

const inVainAtMost = 20
const keptHereAtMost = 20

/** Milliseconds a status waits for the service. */
const statusPatience = 1000
/** The same where the service is to be checked: with the start of the command less than three seconds. A slow service is not away. */
const checkPatience = 2400

/** A status is needed when things go wrong: it does not wait for a service that is away. */
export function openStatus(sources: StatusSources) {
  const { settings, caches, journal, writeSide, failureLog, places, pins } = sources
  const { activity, clock, config, connection } = settings
  const { account } = connection
  const { content, fleet, health, identities } = caches
  const began = clock.now()
  return async (check = false): Promise<Status> => {
    const checks = check ? [health.check(dueIn(checkPatience, clock)), fleet?.begun('a command')] : []
    // The top of projects/, or why it is unknown.
    const asked = journal.roots.top(dueIn(statusPatience, clock)).then(
      top => journal.roots.explain(top),
      (thrown: unknown) => asFailure(thrown).message,
    )
    const [top] = await Promise.all([asked, ...checks])
    const troubles = await places()
    const { outage, signedOut } = health
    const { until, renewed } = connection.signIn()
    return {
      service: account.base.href,
      user: account.user,
      mountPoint: settings.mountPoint,
      access: config.access,
      pid: process.pid,
      control: settings.controlSocket,
      logFile: config.logFile,
      at: isoText(clock.now()),
      version: ownVersion,
      since: isoText(began),
      top,
      answers: outage === undefined,
      awaySince: outage && isoText(outage.since),
      awayBecause: outage?.failure.message,
      signedIn: signedOut === undefined,
      signedOutSince: signedOut && isoText(signedOut.since),
      signedOutBecause: signedOut && signInEnded(signedOut.failure),
      signedInUntil: until === undefined ? undefined : isoText(until),
      signInRenewed: renewed,
      lacking: connection.lacking(),
      requests: health.asked,
      kernel: activity.kernel.way,
      kernelBecause: activity.kernel.because,
      answersInMs: health.answersIn,
      fleet: fleet && { ...fleet.status() },
      cache: content.stats(),
      pins: pins.reports(),
      otherThings: identities.count,
      unsent: journal.drafts.list().map(one => ({ ...draftFacts(one) })),
      deleting: waitingRemovals(writeSide.burst).map(({ since, ...one }) => ({
        ...one,
        since: isoText(since),
      })),
      keptHere: keptHere(journal.scratch).slice(0, keptHereAtMost),
      removedInVain: failureLog.removedInVain().slice(0, inVainAtMost),
      places: troubles,
      lastFailure: failureLog.last,
      state: account.places.state,
      cacheDirectory: account.places.cache,
    }
  }
}

/** Paths of what a user has put among the reports under a name that makes none. */
const keptHere = (scratch: Journal['scratch']): readonly string[] =>
  scratch
    .entries(fixedNames.reports)
    .flatMap(({ name, node }) =>
      node.kind === 'scratch' && isUsersOwn(name) ? [`/${fixedNames.reports}/${name}`] : [],
    )
