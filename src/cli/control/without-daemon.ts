// A drive without a daemon: assembled in this process for the length of one command.
import { Activity } from '../../activity/activity.js'
import { type AssembledDrive, assemble } from '../../app/assemble.js'
import { connect } from '../../app/connect.js'
import { prepareDirectories, refuseNetworkDisk } from '../../app/own-places.js'
import { introduced, notTried, withPassword } from '../../app/sign-in.js'
import { systemClock } from '../../remote/clock.js'
import { openLog } from '../../terminal/log.js'
import { complain } from '../../terminal/print.js'
import type { Configured } from '../../terminal/settings.js'

/**
 * The same parts as in a daemon, for a moment; drafts that a living daemon owns are left to it.
 * @param as `introduced`: the service has said who the user is
 * @throws Stop where it refuses that user, or is away and nothing of it is known
 */
export async function withoutDaemon<Result>(
  configured: Configured,
  as: 'kept' | 'introduced',
  work: (line: AssembledDrive) => Promise<Result>,
): Promise<Result> {
  const given = as === 'introduced' ? await withPassword(configured) : configured
  const connection = connect(given)
  const log = await openLog({ logLevel: 'error', logFile: undefined })
  refuseNetworkDisk(connection.account.places)
  prepareDirectories(connection.account, (sentence, about) => log.warn(about, sentence))
  const line = await assemble({
    config: given.config,
    connection,
    activity: new Activity(),
    // Not limited to one mount: every text read by any mount may be the base of a draft.
    mountPoint: `none, process ${process.pid} of ${Date.now()}`,
    log,
    clock: systemClock,
  })
  try {
    if (as === 'introduced') complain(await introduced(line, connection.account, notTried))
    return await work(line)
  } finally {
    await line.close()
  }
}
