// Access of a command to the drive that it means: a mounted one, or one that is assembled in this process for as long as the command takes.
import type { Command } from 'commander'
import { Option } from 'commander'
import type { Control, NamedDraft } from '../../drive/interface/control.js'
import type { DriveReader } from '../../drive/interface/reader.js'
import { CliCommand } from '../../terminal/command.js'
import { type ExitCode, exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, printFound } from '../../terminal/print.js'
import { configured, withSettings } from '../../terminal/settings.js'
import { chosen, type GivenPath, hasNamingFlag, mountFlag, onDrive } from './choose.js'
import { controlAt, readerAt } from './client.js'
import { daemonAt } from './daemon.js'

/** A command for a mounted drive, and without one for what is kept of the configured service. */
export function driveCommand(name: string): CliCommand {
  const command = new CliCommand(name).addOption(new Option(...mountFlag).conflicts('url'))
  return withSettings(command, 'service')
}

/** The same for a command about a whole drive, which may be named without --mount, too. */
export const wholeDriveCommand = (name: string): CliCommand =>
  driveCommand(name)
    .argument('[drive]', 'the drive that is meant, or a path below it; as --mount')
    .hook('preAction', async (_, command) => {
      const [drive] = command.args
      if (drive === undefined) return
      const place = await onDrive(drive)
      // The contents of a part are not dropped alone.
      const isPart = command.name() === 'clear' && place !== undefined && place.path !== '/'
      if (isPart || command.opts()['mount'] !== undefined || hasNamingFlag(command))
        throw new Stop(exitCodes.usage, `${drive}: name one whole drive, by its mount point or by a flag.`)
      command.setOptionValue('mount', drive)
    })

interface SelectedDrive {
  readonly control: Control
  readonly reader: DriveReader
  /** Undefined where it is assembled in this process. */
  readonly mountPoint: string | undefined
  readonly paths: readonly GivenPath[]
}

/**
 * Does the work with the drive that a command selects by its flags and paths.
 * @param as `introduced`, for a command that shows a drive: without a daemon the service is asked first who the user is, so that no cache of another user is shown
 * @throws Stop where several could be meant
 */
export async function withDrive<Result>(
  command: Command,
  given: readonly string[],
  work: (drive: SelectedDrive) => Promise<Result>,
  as: 'kept' | 'introduced' = 'kept',
): Promise<Result> {
  const { mountPoint, paths } = await chosen(command, given)
  if (mountPoint !== undefined) {
    const daemon = await daemonAt(mountPoint)
    return work({ control: controlAt(daemon), reader: readerAt(daemon), mountPoint, paths })
  }
  // Most of the program, which a command with a daemon need not load.
  const { withoutDaemon } = await import('./without-daemon.js')
  return withoutDaemon(configured(command), as, ({ control, reader }) =>
    work({ control, reader, mountPoint, paths }),
  )
}

export const withReader = <Result>(
  command: Command,
  given: readonly string[],
  work: (reader: DriveReader, paths: readonly GivenPath[]) => Promise<Result>,
): Promise<Result> => withDrive(command, given, ({ reader, paths }) => work(reader, paths), 'introduced')

/** The action of a command about a whole drive: prints one answer of its control. */
export const printsOfDrive =
  <Found>(
    ask: (control: Control) => Promise<Found>,
    textOf: (found: Found) => string,
    codeOf: (found: Found) => ExitCode = () => exitCodes.done,
  ) =>
  (_: string | undefined, flags: JsonFlag, command: Command): Promise<void> =>
    withDrive(command, [], async ({ control }) => {
      const found = await ask(control)
      printFound(flags, found, textOf(found))
      process.exitCode = codeOf(found)
    })

export function withPath<Result>(
  command: Command,
  given: string,
  work: (control: Control, path: string, drive: SelectedDrive) => Promise<Result>,
): Promise<Result> {
  return withDrive(command, [given], drive => work(drive.control, drive.paths[0]?.path ?? '/', drive))
}

/** The same for a draft, which may be named by its name in `.calcfs/drafts/` as well. */
export async function withDraft<Result>(
  command: Command,
  name: string,
  work: (control: Control, asked: NamedDraft) => Promise<Result>,
): Promise<Result> {
  const isOfDrive = command.opts()['mount'] === undefined && (await onDrive(name)) !== undefined
  if (name.includes('/') || isOfDrive)
    return withPath(command, name, (control, path) => work(control, { name, path }))
  return withDrive(command, [], ({ control }) => work(control, { name }))
}
