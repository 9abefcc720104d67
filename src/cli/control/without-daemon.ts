// A drive's control without a daemon: the whole line in this process, for the length of one command.
import { assemble } from '../../app/assemble.js'
import { connected } from '../../app/connect.js'
import { preparePlaces } from '../../app/own-places.js'
import type { Control } from '../../drive/interface/control.js'
import { systemClock } from '../../remote/clock.js'
import type { Learned } from '../../remote/rest/capabilities.js'
import { openLog } from '../../terminal/log.js'
import type { Configured } from '../../terminal/settings.js'
import { version } from '../../terminal/version.js'

/** The same parts as a daemon has, for a moment; drafts that a living daemon owns are left to it. */
export async function withoutDaemon<Result>(
  given: Configured,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const learned: Learned = { sizes: {} }
  const connection = connected(given, { learned, note: nobodyToTell })
  const log = openLog({ logLevel: 'error', logFile: undefined })
  preparePlaces(connection.account.places, (sentence, about) => log.warn(about, sentence))
  const line = await assemble({
    config: given.config,
    connection,
    learned,
    // No mount's own: every text that any mount met may be what a draft was made from.
    mountPoint: `none, process ${process.pid} of ${Date.now()}`,
    log,
    version: version(),
    now: systemClock.now,
  })
  try {
    return await work(line.control)
  } finally {
    await line.close()
  }
}

function nobodyToTell(): void {}
