// `calcfs find`: the paths of a tree that match, as find(1) prints them, mounted or not.
import { type Command, Option } from 'commander'
import { isProblem, type TreeQuestion } from '../../drive/interface/reader.js'
import { withExamples } from '../../terminal/examples.js'
import { jsonFlag, printBytes } from '../../terminal/print.js'
import { wholeNumber } from '../../terminal/settings.js'
import { driveCommand } from '../control/with-drive.js'
import { after, type GivenPath, withHint, withReader } from '../control/with-reader.js'
import { entryTypes, openJsonArray, openProblems, printedEntry, repeated } from './output.js'

interface Flags {
  readonly name?: readonly string[]
  readonly iname?: readonly string[]
  readonly path?: readonly string[]
  readonly type?: readonly string[]
  readonly maxdepth?: number
  readonly mindepth?: number
  readonly follow?: true
  readonly json?: true
}

export function findCommand(): Command {
  const command: Command = driveCommand('find')
    .description('print the paths of a tree that match; needs no FUSE, and no mount')
    .argument('[path...]', 'paths of the drive, or below a mount; default: where you stand, or the top')
    .addOption(repeated('--name <glob>', 'the last name matches, as in find(1): * takes a leading dot, too'))
    .addOption(repeated('--iname <glob>', 'the same in upper and lower case'))
    .addOption(repeated('--path <glob>', 'the path as it is printed matches; * takes slashes, too'))
    .addOption(
      new Option('--type <types>', 'f, d, l, or project, calculation, report; several with commas').argParser(
        entryTypes,
      ),
    )
    .addOption(
      new Option('--maxdepth <levels>', 'so many levels below each path at most').argParser(wholeNumber(0)),
    )
    .addOption(new Option('--mindepth <levels>', 'nothing above so many levels').argParser(wholeNumber(0)))
    .option('-L, --follow', 'show links below as what they lead to')
    .addOption(jsonFlag('an array of entries'))
    .action((paths: readonly string[], flags: Flags) => find(command, paths, flags))
  return withExamples(
    command,
    ["calcfs find projects --name '*.out'", 'every output of every project'],
    ['calcfs find projects --type calculation --maxdepth 2', 'the calculations of the upper levels'],
  )
}

const questionOf = ({ path, given }: GivenPath, flags: Flags): TreeQuestion => ({
  path,
  calledAs: given.replace(/\/+$/, ''),
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
})

/** As find(1): the path as it was given, and what is below it. */
const shownAs = (given: string, below: string): string => {
  const top = given.replace(/\/+$/, '')
  return below === '' ? top || given : `${top}/${below}`
}

async function find(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  const problems = openProblems()
  const pieces: string[] = []
  const array = openJsonArray(text => pieces.push(text))
  await withReader(command, given.length === 0 ? ['.'] : given, async (reader, paths) => {
    for (const [at, path] of paths.entries()) {
      const top = path.path === '/' ? '/' : `${path.path}/`
      for await (const items of reader.tree(questionOf(path, flags), new AbortController().signal)) {
        for (const item of items) {
          const below = item.path === path.path ? '' : item.path.slice(top.length)
          const shown = shownAs(path.given, below)
          if (isProblem(item))
            problems.add(
              shown,
              below === '' ? await withHint(reader, item.failure, path, after(paths, at)) : item.failure,
            )
          else if (flags.json === true) array.add(printedEntry(item, shown))
          else pieces.push(`${shown}\n`)
        }
        await printBytes(pieces.splice(0).join(''))
      }
    }
  })
  if (flags.json === true) array.end()
  await printBytes(pieces.join(''))
  process.exitCode = problems.exitCode
}
