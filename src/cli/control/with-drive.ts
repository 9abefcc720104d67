// How a command reaches a drive: through the daemon that has it mounted, or with the whole line in this process.
import { Command, Option } from 'commander'
import type { Control } from '../../drive/interface/control.js'
import { sourceOf } from '../../mount/mount-point.js'
import { configured, withSettings } from '../../terminal/settings.js'
import { daemonAt, driveAt } from './daemon-of.js'
import { chosenMount, liveMounts, mountFlag } from './select-mount.js'

/** A command that works with a mounted drive, and without one on what the configured service's drafts are kept in. */
export function driveCommand(name: string): Command {
  const command = new Command(name).addOption(new Option(...mountFlag).conflicts('url'))
  return withSettings(command, 'service')
}

/** Does the work with the drive that a command means, whether it is mounted or not. */
export async function withDrive<Result>(
  command: Command,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const mountPoint = await mountedDrive(command)
  if (mountPoint !== undefined) return work(await driveAt(mountPoint))
  // Most of the program, which a command towards a daemon does not wait for.
  const { withoutDaemon } = await import('./without-daemon.js')
  return withoutDaemon(configured(command), work)
}

/** A service that is named with --url is meant, mounted or not; else the mount counts before the configuration. */
async function mountedDrive(command: Command): Promise<string | undefined> {
  const { mount, url } = command.optsWithGlobals()
  if (url === undefined) return chosenMount(mount)
  const { config } = configured(command)
  const { serviceBase } = await import('../../app/connect.js')
  const base = serviceBase(config).href
  const mounts = await liveMounts(({ source }) => source !== '' && sourceOf(base).startsWith(source))
  const all = await Promise.all(mounts.map(async ({ path }) => (await daemonAt(path)).status()))
  return all.find(
    ({ service, user }) => service === base && (config.user === undefined || user === config.user),
  )?.mountPoint
}
