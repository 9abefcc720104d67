// `calcfs find`: the paths of a tree that match, as find(1) prints them, mounted or not.
import type { Command } from 'commander'
import { type JsonFlag, jsonFlag, printBytes, printJson } from '../../terminal/print.js'
import { collected, wholeNumber } from '../../terminal/settings.js'
import { driveCommand, withReader } from '../control/with-drive.js'
import { entriesAt, entryTypes, Problems, printedEntry, shownAs } from './output.js'

interface Flags extends JsonFlag {
  readonly name?: readonly string[]
  readonly iname?: readonly string[]
  readonly path?: readonly string[]
  readonly type?: readonly string[]
  readonly maxdepth?: number
  readonly mindepth?: number
  readonly follow?: true
}

export const findCommand = (): Command =>
  driveCommand('find')
    .description('print the paths of a tree that match; needs no FUSE, and no mount')
    .argument('[path...]', 'paths of the drive, or below a mount; default: where you stand, or the top')
    .option('--name <glob>', 'the last name matches, as in find(1): * takes a leading dot, too', collected)
    .option('--iname <glob>', 'the same in upper and lower case', collected)
    .option('--path <glob>', 'the path as it is printed matches; * takes slashes, too', collected)
    .option('--type <types>', 'f, d, l, or project, calculation, report; several with commas', entryTypes)
    .option('--maxdepth <levels>', 'so many levels below each path at most', wholeNumber(0))
    .option('--mindepth <levels>', 'nothing above so many levels', wholeNumber(0))
    .option('-L, --follow', 'show links below as what they lead to')
    .addOption(jsonFlag('an array of entries'))
    .action((paths: readonly string[], flags: Flags, command: Command) => find(command, paths, flags))
    .examples(
      ["calcfs find projects --name '*.out'", 'every output of every project'],
      ['calcfs find projects --type calculation --maxdepth 2', 'the calculations of the upper levels'],
    )

async function find(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  const problems = new Problems()
  const all: object[] = []
  await withReader(command, given.length === 0 ? ['.'] : given, async (reader, paths) => {
    for (const path of paths) {
      const asked = {
        calledAs: path.given.replace(/\/+$/, ''),
        depth: flags.maxdepth,
        from: flags.mindepth,
        attributes: flags.json === true,
        follow: flags.follow === true,
        filter: {
          names: flags.name,
          namesOfAnyCase: flags.iname,
          paths: flags.path,
          types: flags.type,
        },
      }
      for await (const entries of entriesAt(reader, path, asked, problems)) {
        if (flags.json === true)
          for (const { entry, below } of entries) all.push(printedEntry(entry, shownAs(path, below)))
        else await printBytes(entries.map(({ below }) => `${shownAs(path, below)}\n`).join(''))
      }
    }
  })
  if (flags.json === true) printJson(all)
  process.exitCode = problems.exitCode
}
