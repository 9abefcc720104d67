// `calcfs cat`: files of the drive on standard output, mounted or not.
import type { Command } from 'commander'
import { FilePrinter } from '../../terminal/print.js'
import { driveCommand, withReader } from '../control/with-drive.js'
import { Problems } from './output.js'

export const catCommand = (): Command =>
  driveCommand('cat')
    .description('print files of the drive; needs no FUSE, and no mount')
    .argument('<path...>', 'files of the drive, or below a mount')
    .action((paths: readonly string[], _: object, command: Command) => print(command, paths))
    .examples(
      ["calcfs cat 'projects/Water splitting/TS1_opt/output.cml'", 'one file'],
      ['calcfs cat by-id/calculation/1234/run.log | grep ENERGY', 'a file by the number of its calculation'],
    )

/** As cat(1): one that cannot be read is named, and the others follow. */
async function print(command: Command, given: readonly string[]): Promise<void> {
  const problems = new Problems()
  await withReader(command, given, async (reader, paths) => {
    for (const one of paths) {
      const printer = new FilePrinter()
      try {
        await reader.file(one.path, printer.print, new AbortController().signal)
        await printer.end()
      } catch (thrown) {
        problems.add(one.given, thrown)
      }
    }
  })
  process.exitCode = problems.exitCode
}
