// A drive's control without a daemon: the whole line in this process, for the length of one command.
import { assemble } from '../../app/assemble.js'
import { connect } from '../../app/connect.js'
import { prepareDirectories } from '../../app/own-places.js'
import type { Control } from '../../drive/interface/control.js'
import { noop } from '../../noop.js'
import { systemClock } from '../../remote/clock.js'
import type { Capabilities } from '../../remote/rest/capabilities.js'
import { openLog } from '../../terminal/log.js'
import type { Configured } from '../../terminal/settings.js'
import { version } from '../../terminal/version.js'

/** The same parts as a daemon has, for a moment; drafts that a living daemon owns are left to it. */
export async function withoutDaemon<Result>(
  given: Configured,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const capabilities: Capabilities = { sizes: {} }
  const connection = connect(given, { capabilities, note: noop })
  const log = openLog({ logLevel: 'error', logFile: undefined })
  prepareDirectories(connection.account.places, (sentence, about) => log.warn(about, sentence))
  const line = await assemble({
    config: given.config,
    connection,
    capabilities,
    // No mount's own: every text that any mount met may be what a draft was made from.
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
