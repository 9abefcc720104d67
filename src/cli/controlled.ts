// How a command reaches a drive: through the daemon that has it mounted, or with the whole line in this process.
import { Command, Option } from 'commander'
import { makePrivate } from '../config/places.js'
import type { Control } from '../drive/control.js'
import { systemClock } from '../remote/clock.js'
import type { Learned } from '../remote/learned.js'
import { assemble } from './assemble.js'
import { chosenMount, liveMounts, mountFlag } from './chosen-mount.js'
import { baseOf, connected } from './connect.js'
import { controlAt } from './control-client.js'
import { exitCodes, Stop } from './exit.js'
import { openLog } from './log.js'
import { type Configured, configured, withSettings } from './settings.js'
import { type Status, statusShown } from './status.js'
import { version } from './version.js'

/** The drive that is mounted there. @throws Stop where its daemon does not listen */
export async function driveAt(mountPoint: string): Promise<Control> {
  return controlOf(await statusShown(mountPoint))
}

function controlOf({ control, mountPoint }: Status): Control {
  if (control !== undefined) return controlAt(control)
  throw new Stop(
    exitCodes.failed,
    `the drive on ${mountPoint} has no control socket, and its log says why; mount it again when that is mended.`,
  )
}

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
  const mounted = await mountedDrive(command)
  return mounted === undefined ? unmounted(configured(command), work) : work(controlOf(mounted))
}

/** A service that is named with --url is meant, mounted or not; else the mount counts before the configuration. */
async function mountedDrive(command: Command): Promise<Status | undefined> {
  const { mount, url } = command.optsWithGlobals()
  if (url === undefined) {
    const mountPoint = await chosenMount(mount)
    return mountPoint === undefined ? undefined : statusShown(mountPoint)
  }
  const { config } = configured(command)
  const all = await Promise.all((await liveMounts()).map(statusShown))
  const base = baseOf(config).href
  return all.find(
    ({ service, user }) => service === base && (config.user === undefined || user === config.user),
  )
}

/** The same parts as a daemon has, for a moment; drafts that a living daemon owns are left to it. */
async function unmounted<Result>(
  given: Configured,
  work: (control: Control) => Promise<Result>,
): Promise<Result> {
  const learned: Learned = { sizes: {} }
  const connection = connected(given, { learned, note: nobodyToTell })
  for (const place of Object.values(connection.account.places)) makePrivate(place)
  const line = await assemble({
    config: given.config,
    connection,
    learned,
    // No mount's own: every text that any mount met may be what a draft was made from.
    mountPoint: `none, process ${process.pid} of ${Date.now()}`,
    log: openLog({ logLevel: 'error', logFile: undefined }),
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
