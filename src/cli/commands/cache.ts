// `calcfs cache`: shows, clears and verifies the contents kept on this disk.
import type { Command } from 'commander'
import type { CallResult } from '../../drive/interface/control.js'
import { filesText } from '../../terminal/amount.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound } from '../../terminal/print.js'
import { wholeDriveCommand, withDrive } from '../control/with-drive.js'

export const cacheCommand = (): Command =>
  new CliCommand('cache')
    .description(
      'the contents kept on this disk, of a mounted drive, or of the configured service where none is mounted; never drafts',
    )
    .addCommand(infoCommand())
    .addCommand(clearCommand())
    .addCommand(verifyCommand())

const infoCommand = (): Command =>
  wholeDriveCommand('info')
    .description(
      'show how many files are kept, how many bytes they take, and where; calcfs info PATH says it of a project',
    )
    .addOption(jsonFlag('an object'))
    .action((_: string | undefined, flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const info = await control.cacheInfo({})
        printFound(flags, info, describe(info))
      }),
    )
    .examples(
      ['calcfs cache info', 'of the one drive that is mounted'],
      ['calcfs cache info ~/lab --json', 'for a script'],
    )

function describe({ files, bytes, limitBytes, directory, downloads }: CallResult<'cacheInfo'>): string {
  const coming = downloads === 0 ? '' : `; ${downloads} being downloaded`
  return `${filesText(files)} of contents, ${bytes} of ${limitBytes} bytes, in ${directory}${coming}.`
}

const clearCommand = (): Command =>
  wholeDriveCommand('clear')
    .description('drop the kept contents, save those of pins; drafts, history and settings stay')
    .addOption(jsonFlag('an object'))
    .action((_: string | undefined, flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const gone = await control.cacheClear({})
        const kept = gone.pinned === 0 ? '' : `; ${filesText(gone.pinned)} stay, because they are pinned`
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
      ['calcfs cache clear ~/lab', 'of one of several drives'],
    )

const verifyCommand = (): Command =>
  wholeDriveCommand('verify')
    .description('check the kept contents against their checksums; exit code 1 where any is damaged')
    .addOption(jsonFlag('an object'))
    .action((_: string | undefined, flags: JsonFlag, command: Command) =>
      withDrive(command, [], async ({ control }) => {
        const found = await control.cacheVerify({})
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
      ['calcfs cache verify --json', 'for a script'],
    )
