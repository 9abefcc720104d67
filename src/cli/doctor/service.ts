// Checks of the service from this machine: reachable, trusted, right clock, and signed in.
import { adviceFor, signInAdvice } from '../../advice.js'
import { type Connection, clientOptions, connect } from '../../app/connect.js'
import { asFailure, Failure, isA } from '../../failure.js'
import { dueIn, systemClock } from '../../remote/clock.js'
import { probeServer } from '../../remote/connection/connections.js'
import type { RequestContext, ServicePath } from '../../remote/remote.js'
import { sentenceOf } from '../../terminal/exit.js'
import { complain } from '../../terminal/print.js'
import type { Configured } from '../../terminal/settings.js'
import { bad, type Finding, good, poor } from './finding.js'

/** Clock difference in milliseconds from which tokens may count as expired, or not yet valid. */
const tolerated = 60_000

export async function reached({ config }: Configured): Promise<readonly Finding[]> {
  const options = clientOptions(config)
  const { base } = options
  try {
    const { date, isForeign } = await probeServer(base, {
      options,
      clock: systemClock,
      limit: config.deadlineMetadata,
    })
    if (isForeign)
      throw new Failure('unreachable', 'another server answers in the place of the platform', { isForeign })
    const safe = base.protocol === 'https:' ? 'over TLS, with a trusted certificate' : 'over plain http'
    return [good('service', `${base.href} answers ${safe}`), clock(date, Date.now())]
  } catch (reason) {
    const failure = asFailure(reason)
    return [bad('service', `${base.href}: ${failure.message}`, adviceFor(failure) ?? 'check the address')]
  }
}

function clock(theirs: number | undefined, ours: number): Finding {
  if (theirs === undefined)
    return poor('clock', 'the service does not state its time', 'compare the clocks by hand')
  const seconds = Math.round(Math.abs(theirs - ours) / 1000)
  return seconds * 1000 <= tolerated
    ? good('clock', `${seconds} s from the service's`)
    : bad('clock', `${seconds} s from the service's: log-ins may fail`, 'sudo timedatectl set-ntp true')
}

export async function signedIn(given: Configured): Promise<readonly Finding[]> {
  try {
    const connection = connect(given, { note: happened => complain(sentenceOf(happened)) })
    try {
      const context = dueIn(given.config.deadlineMetadata, systemClock)
      const user = await connection.remote.user(context)
      const name = user.candidates[0] ?? connection.account.user
      return [
        good('sign-in', `signed in as ${name}`),
        ...(await topOf(connection, { name, roots: given.config.root, context })),
        ...operations(connection.lacking()),
      ]
    } finally {
      await connection.close()
    }
  } catch (reason) {
    const mend = (reason instanceof Failure ? adviceFor(reason) : undefined) ?? signInAdvice
    return [bad('sign-in', sentenceOf(reason) ?? String(reason), mend)]
  }
}

async function topOf(
  { remote }: Connection,
  { name, roots, context }: { name: string; roots: readonly string[]; context: RequestContext },
): Promise<readonly Finding[]> {
  await remote.reportTypes(context).catch(asFailure)
  if (roots.length > 0) return []
  try {
    const id = await remote.resolveProject(`/db/${name}` as ServicePath, context)
    return [good('projects', `/db/${name} is project ${id}`)]
  } catch (reason) {
    if (!isA('denial', asFailure(reason))) throw reason
    const found = `this instance finds no project at /db/${name}, so projects/ is empty without --root`
    return [poor('projects', found, 'mount with --root and the number of a project; its web page shows it')]
  }
}

const operations = (lacking: readonly string[]): readonly Finding[] =>
  lacking.length === 0 ? [] : [poor('operations', `this instance lacks ${lacking.join(', ')}`)]
