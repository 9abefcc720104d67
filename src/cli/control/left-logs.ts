// Logs that daemons in the background have left, for a command that finds no drive.
import { statSync } from 'node:fs'
import { formerMounts } from '../../app/account/mount-notes.js'
import { defaultLogFile, statesOf } from '../../config/places.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import type { Configured } from '../../terminal/settings.js'

/** Which logs there are of daemons that have ended, the latest first. */
export function withoutDrive({ config, sources }: Configured): Stop {
  const timeOf = (path: string): number | undefined =>
    statSync(defaultLogFile(path, config, sources.environment), { throwIfNoEntry: false })?.mtimeMs
  const left = formerMounts(statesOf(config, sources.environment))
    .flatMap(path => {
      const at = timeOf(path)
      return at === undefined ? [] : [{ path, at }]
    })
    .sort((one, other) => other.at - one.at)
  const lines = left.slice(0, namedAtMost).map(({ path }) => `calcfs log ${path}`)
  const next =
    lines.length === 0
      ? 'name the directory whose log is meant: calcfs log DIRECTORY'
      : `the last one's log: ${lines.join("; an earlier one's: ")}`
  return new Stop(exitCodes.mountPoint, `no drive is mounted; ${next}`)
}

/** Of many logs. */
const namedAtMost = 3
