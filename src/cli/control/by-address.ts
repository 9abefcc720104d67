// The address of a service where a drive is meant: which directory to write instead.
import { drivesOfUser, sourceOf } from '../../mount/mount-point.js'
import { exitCodes, Stop } from '../../terminal/exit.js'

/** Ends a command that was given an address in the place of a mount point. @param line what stands before the right one @throws Stop */
export async function refuseAddress(line: string, given: string): Promise<void> {
  if (!/^https?:\/\//.test(given)) return
  const host = URL.canParse(given) ? new URL(given).origin : given
  const meant = (await drivesOfUser()).filter(({ source }) => source.startsWith(sourceOf(host)))
  const next =
    meant.length === 0
      ? 'calcfs status lists your drives'
      : `${line} ${meant.map(({ path }) => path).join(' or ')}`
  throw new Stop(exitCodes.usage, `name the directory, not the address of the service; ${next}.`)
}
