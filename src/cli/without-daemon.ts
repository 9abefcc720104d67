// A drive's control without a daemon: the whole line in this process, for the length of one command.
import type { Control } from '../drive/control.js'
import { systemClock } from '../remote/clock.js'
import type { Learned } from '../remote/learned.js'
import { assemble } from './assemble.js'
import { connected } from './connect.js'
import { openLog } from './log.js'
import { preparePlaces } from './own-places.js'
import type { Configured } from './settings.js'
import { version } from './version.js'

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
