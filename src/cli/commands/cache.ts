// `calcfs cache`: shows, clears and verifies the contents kept on this disk.
import type { Command } from 'commander'
import type { CallResult } from '../../drive/interface/control.js'
import { bytesText, filesText } from '../../terminal/amount.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes } from '../../terminal/exit.js'
import { jsonFlag } from '../../terminal/print.js'
import { printsOfDrive, wholeDriveCommand } from '../control/with-drive.js'

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
    .action(printsOfDrive(control => control.cacheInfo({}), keptText))
    .examples(
      ['calcfs cache info', 'of the one drive that is mounted'],
      ['calcfs cache info ~/lab --json', 'for a script'],
    )

function keptText({ files, bytes, limitBytes, directory, downloads }: CallResult<'cacheInfo'>): string {
  const coming = downloads === 0 ? '' : `; ${downloads} being downloaded`
  return `${filesText(files)} of contents, ${bytesText(bytes)} of ${bytesText(limitBytes)}, in ${directory}${coming}.`
}

const clearCommand = (): Command =>
  wholeDriveCommand('clear')
    .description('drop the kept contents, save those of pins; drafts, history and settings stay')
    .addOption(jsonFlag('an object'))
    .action(printsOfDrive(control => control.cacheClear({}), goneText))
    .examples(
      ['calcfs cache clear', 'make room on the disk'],
      ['calcfs cache clear ~/lab', 'of one of several drives'],
    )

function goneText({ files, bytes, pinned }: CallResult<'cacheClear'>): string {
  const kept = pinned === 0 ? '' : `; ${filesText(pinned)} stay, because they are pinned`
  return files === 0
    ? `nothing dropped${kept}.`
    : `${filesText(files)} dropped, ${bytesText(bytes)}; each is downloaded again when it is read, once the kernel keeps no page of it either${kept}.`
}

const verifyCommand = (): Command =>
  wholeDriveCommand('verify')
    .description('check the kept contents against their checksums; exit code 1 where any is damaged')
    .addOption(jsonFlag('an object'))
    .action(
      printsOfDrive(
        control => control.cacheVerify({}),
        checkedText,
        ({ damaged }) => (damaged > 0 ? exitCodes.failed : exitCodes.done),
      ),
    )
    .examples(
      ['calcfs cache verify', 'after a crash of the machine or its disk'],
      ['calcfs cache verify --json', 'for a script'],
    )

const checkedText = ({ checked, damaged }: CallResult<'cacheVerify'>): string =>
  `${filesText(checked)} checked, ${damaged === 0 ? 'all as they were downloaded' : `${damaged} damaged and dropped: each is downloaded again when it is read`}.`
