// Access of a command to a drive: through the daemon that has it mounted, or assembled in this process.
import { Command, Option } from 'commander'
import type { Control } from '../../drive/interface/control.js'
import { sourceOf } from '../../mount/mount-point.js'
import { configured, withSettings } from '../../terminal/settings.js'
import { daemonAt, driveAt } from './find-daemon.js'
import { chosenMount, liveMounts, mountFlag } from './select-mount.js'

/** A command for a mounted drive, and without one for the drafts of the configured service. */
export function driveCommand(name: string): Command {
  const command = new Command(name).addOption(new Option(...mountFlag).conflicts('url'))
  return withSettings(command, 'service')
}

/** Does the work with the drive that a command selects, mounted or not. */
export async function withDrive<Result>(
  command: Command,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const mountPoint = await mountedDrive(command)
  if (mountPoint !== undefined) return work(await driveAt(mountPoint))
  // Most of the program, which a command with a daemon need not load.
  const { withoutDaemon } = await import('./without-daemon.js')
  return withoutDaemon(configured(command), ({ control }) => work(control))
}

/** A service named with --url is selected, mounted or not; else the mount goes before the configuration. */
export async function mountedDrive(command: Command): Promise<string | undefined> {
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
