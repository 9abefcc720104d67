// A path of this machine below a directory on which a drive was mounted and none is now: it is not a path of another drive.
import { isAbsolute, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { formerMountAbove } from '../../app/account/mount-notes.js'
import { statesOf } from '../../config/places.js'
import { drives, innermost, mountPath } from '../../mount/mount-point.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { configured } from '../../terminal/settings.js'
import { liveMounts } from './select-mount.js'
import { namesService } from './with-drive.js'

/**
 * A relative path may be one of the drive that the command names, or without any drive of the configured service.
 * @throws Stop
 */
export async function refuseUnmounted(command: Command, given: string): Promise<void> {
  const local = await mountPath(resolve(given))
  if (innermost(local, await drives()) !== undefined) return
  const { config, sources } = configured(command)
  const former = formerMountAbove(local, statesOf(config, sources.environment))
  if (former === undefined || (!isAbsolute(given) && (await isOfNamedDrive(command)))) return
  const path = relative(former, local)
  const orOf = path === '' ? '' : `; of another drive the path is ${path}, with --mount`
  throw new Stop(
    exitCodes.mountPoint,
    `nothing is mounted on ${former} any more, so ${local} is on no drive; calcfs mount brings it up again${orOf}.`,
  )
}

async function isOfNamedDrive(command: Command): Promise<boolean> {
  const { mount } = command.optsWithGlobals()
  return mount !== undefined || namesService(command) || (await liveMounts()).length === 0
}
