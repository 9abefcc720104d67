// A drive's control without a daemon: assembled in this process for the length of one command.
import { assemble } from '../../app/assemble.js'
import { connect } from '../../app/connect.js'
import { prepareDirectories } from '../../app/prepare-places.js'
import type { Control } from '../../drive/interface/control.js'
import { noop } from '../../noop.js'
import { systemClock } from '../../remote/clock.js'
import type { Capabilities } from '../../remote/rest/capabilities.js'
import { openLog } from '../../terminal/log.js'
import type { Configured } from '../../terminal/settings.js'
import { version } from '../../terminal/version.js'

/** The same parts as in a daemon, for a moment; drafts that a living daemon owns are left to it. */
export async function withoutDaemon<Result>(
  given: Configured,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const capabilities: Capabilities = { sizes: {} }
  const connection = connect(given, { capabilities, note: noop })
  const log = await openLog({ logLevel: 'error', logFile: undefined, logSize: 0 })
  prepareDirectories(connection.account, (sentence, about) => log.warn(about, sentence))
  const line = await assemble({
    config: given.config,
    connection,
    capabilities,
    // Not limited to one mount: every text read by any mount may be the base of a draft.
    mountPoint: `none, process ${process.pid} of ${Date.now()}`,
    log,
    version: version(),
    clock: systemClock,
  })
  try {
    return await work(line.control)
  } finally {
    await line.close()
  }
}
