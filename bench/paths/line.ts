// A drive without a kernel: the whole line of a daemon in this process, with directories of its own.
import { pino } from 'pino'
import { Activity } from '../../src/activity/activity.js'
import { type AssembledDrive, assemble } from '../../src/app/assemble.js'
import { connect } from '../../src/app/connect.js'
import { readConfig } from '../../src/config/config.js'
import { systemClock } from '../../src/remote/clock.js'
import type { Remote } from '../../src/remote/remote.js'
import { makePrivateNow } from '../../src/system/own-file.js'

export interface LineWish {
  /** The directory for what the line keeps, as a home. */
  readonly home: string
  /** Settings by their names, the address of the service among them. */
  readonly settings: Readonly<Record<string, string>>
  /** Takes each line of the log, of level `warn`; silent if undefined. */
  readonly log?: (line: string) => void
}

export interface Line {
  readonly drive: AssembledDrive
  readonly activity: Activity
  readonly remote: Remote
}

/** Opens a line and signs it in. @throws Failure where the service refuses or is away */
export async function openLine({ home, settings, log }: LineWish): Promise<Line> {
  const sources = {
    flags: { user: 'demo', ...settings },
    environment: { HOME: home, CALCFS_PASSWORD: 'demo' },
    files: [],
  }
  const config = readConfig(sources)
  const activity = new Activity()
  const connection = connect({ config, sources }, { clock: systemClock, requests: activity.requests })
  for (const place of Object.values(connection.account.places)) makePrivateNow(place)
  const drive = await assemble({
    config,
    connection,
    mountPoint: home,
    log: pino({ level: log === undefined ? 'silent' : 'warn' }, { write: line => log?.(line) }),
    clock: systemClock,
    activity,
  })
  const failure = await drive.introduce()
  if (failure !== undefined) throw failure
  return { drive, activity, remote: connection.remote }
}
