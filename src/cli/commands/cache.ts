// `calcfs cache`: shows, clears and verifies the contents kept on this disk, all of them or those below a path.

import type { Command } from 'commander'
import type { CallResult, Control } from '../../drive/interface/control.js'
import { filesText } from '../../terminal/amount.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { driveCommand, withDrive, withPath } from '../control/with-drive.js'

interface ClearFlags extends JsonFlag {
  readonly pinned?: true
}

export function cacheCommand(): Command {
  const command = new CliCommand('cache').description(
    'the contents kept on this disk, of a mounted drive, or of the configured service where none is mounted; never drafts',
  )
  for (const make of [infoCommand, clearCommand, verifyCommand]) command.addCommand(make())
  return command
}

const infoCommand = (): Command =>
  driveCommand('info')
    .description(
      'show how many files are kept, how many bytes they take, and where; calcfs info PATH says it of a project',
    )
    .addOption(jsonFlag('an object'))
    .action((flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const info = await control.cacheInfo({})
        printFound(flags, info, describe(info))
      }),
    )
    .examples(
      ['calcfs cache info', 'of the one drive that is mounted'],
      ['calcfs cache info --mount ~/lab --json', 'for a script'],
    )

function describe({ files, bytes, limitBytes, directory, downloads }: CallResult<'cacheInfo'>): string {
  const coming = downloads === 0 ? '' : `; ${downloads} being downloaded`
  return `${filesText(files)} of contents, ${bytes} of ${limitBytes} bytes, in ${directory}${coming}.`
}

const pathHelp = 'what is known to lie there alone; default: all'

const clearCommand = (): Command =>
  driveCommand('clear')
    .description('drop the kept contents, save those of pins; drafts, history and settings stay')
    .argument('[path]', pathHelp)
    .option('--pinned', 'those of pins, too: a mounted drive fetches them again')
    .addOption(jsonFlag('an object'))
    .action((path: string | undefined, flags: ClearFlags, command: Command) =>
      below(command, path, async (control, at) => {
        const gone = await control.cacheClear({ path: at, pinned: flags.pinned })
        const kept =
          (gone.pinned ?? 0) === 0
            ? ''
            : `; ${filesText(gone.pinned ?? 0)} stay, because they are pinned (--pinned drops them)`
        printFound(
          flags,
          gone,
          gone.files === 0
            ? `nothing dropped${kept}.`
            : `${filesText(gone.files)} dropped, ${gone.bytes} bytes; each is downloaded again when it is read, once the kernel keeps no page of it either${kept}.`,
        )
      }),
    )
    .examples(
      ['calcfs cache clear', 'make room on the disk'],
      ["calcfs cache clear ~/lab/projects/'Water splitting'", 'of one project'],
    )

const verifyCommand = (): Command =>
  driveCommand('verify')
    .description('check the kept contents against their checksums; exit code 1 where any is damaged')
    .argument('[path]', pathHelp)
    .addOption(jsonFlag('an object'))
    .action((path: string | undefined, flags: JsonFlag, command: Command) =>
      below(command, path, async (control, at) => {
        const found = await control.cacheVerify({ path: at })
        const damaged =
          found.damaged === 0
            ? 'all as they were downloaded'
            : `${found.damaged} damaged and dropped: each is downloaded again when it is read`
        printFound(flags, found, `${filesText(found.checked)} checked, ${damaged}.`)
        if (found.damaged > 0) process.exitCode = exitCodes.failed
      }),
    )
    .examples(
      ['calcfs cache verify', 'after a crash of the machine or its disk'],
      ['calcfs cache verify reports/42.json --json', 'of a report with its calculations, for a script'],
    )

function below(
  command: Command,
  path: string | undefined,
  work: (control: Control, at: string | undefined) => Promise<void>,
): Promise<void> {
  return path === undefined
    ? withDrive(command, [], ({ control }) => work(control, undefined))
    : withPath(command, path, work)
}
