// `calcfs ls`: the entries of directories of the drive, mounted or not.
import { type Command, Option } from 'commander'
import {
  type DriveEntry,
  type DriveReader,
  isProblem,
  type TreeQuestion,
} from '../../drive/interface/reader.js'
import { lastNameOf } from '../../layout.js'
import { withExamples } from '../../terminal/examples.js'
import { jsonFlag, printBytes } from '../../terminal/print.js'
import { wholeNumber } from '../../terminal/settings.js'
import { driveCommand } from '../control/with-drive.js'
import { after, type GivenPath, withHint, withReader } from '../control/with-reader.js'
import { longLine, openJsonArray, openProblems, type Problems, printedEntry } from './output.js'

interface Flags {
  readonly long?: true
  readonly all?: true
  readonly depth: number
  readonly json?: true
}

export function lsCommand(): Command {
  const command: Command = driveCommand('ls')
    .description('list directories of the drive; needs no FUSE, and no mount')
    .argument('[path...]', 'paths of the drive, or below a mount; default: where you stand, or the top')
    .option('-l, --long', 'show mode, size, time and where a link leads')
    .option('-a, --all', 'show names that begin with a dot, too')
    .addOption(
      new Option('--depth <levels>', 'so many levels below each path').default(1).argParser(wholeNumber(0)),
    )
    .addOption(jsonFlag('an array of entries'))
    .action((paths: readonly string[], flags: Flags) => list(command, paths, flags))
  return withExamples(
    command,
    ['calcfs ls -l projects', 'the projects, each with its time'],
    ["calcfs ls --depth 2 --json 'projects/Water splitting'", 'two levels, for a script'],
  )
}

async function list(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  const problems = openProblems()
  await withReader(command, given.length === 0 ? ['.'] : given, async (reader, paths) => {
    if (flags.json === true) await printJson(reader, paths, flags, problems)
    else await printNames(reader, paths, flags, problems)
  })
  process.exitCode = problems.exitCode
}

const questionOf = ({ path }: GivenPath, { depth, long, json }: Flags): TreeQuestion => ({
  path,
  depth,
  attributes: long === true || json === true,
  follow: false,
  filter: {},
})

interface Found {
  readonly entry: DriveEntry
  /** Below the path that was given; empty for that itself. */
  readonly below: string
}

/** The entries below one path; of a file it itself. Hidden names are left out with what is in them. */
async function* found(
  reader: DriveReader,
  { given, following }: { readonly given: GivenPath; readonly following: readonly string[] },
  flags: Flags,
  problems: Problems,
): AsyncGenerator<Found> {
  const signal = new AbortController().signal
  const top = given.path === '/' ? '/' : `${given.path}/`
  let hidden: string | undefined
  for await (const items of reader.tree(questionOf(given, flags), signal))
    for (const item of items) {
      const below = item.path === given.path ? '' : item.path.slice(top.length)
      if (isProblem(item)) {
        const isTop = below === ''
        problems.add(
          shownAs(given, below),
          isTop ? await withHint(reader, item.failure, given, following) : item.failure,
        )
        continue
      }
      if (below === '' && item.type === 'directory' && flags.depth > 0) continue
      if (hidden !== undefined && below.startsWith(hidden)) continue
      hidden =
        flags.all !== true && below !== '' && lastNameOf(below).startsWith('.') ? `${below}/` : undefined
      if (hidden === undefined) yield { entry: item, below }
    }
}

const shownAs = ({ given }: GivenPath, below: string): string =>
  below === '' ? given : given === '.' ? below : `${given.replace(/\/+$/, '')}/${below}`

async function printNames(
  reader: DriveReader,
  paths: readonly GivenPath[],
  flags: Flags,
  problems: Problems,
): Promise<void> {
  const hasHeads = paths.length > 1
  for (const [at, given] of paths.entries()) {
    let isHeaded = !hasHeads
    const lines: Found[] = []
    const flush = async (): Promise<void> => {
      const width = Math.max(...lines.map(({ entry }) => String(entry.size ?? '').length))
      const printed = lines.map(({ entry, below }) => {
        const name = below === '' ? given.given : below
        return flags.long === true ? longLine(entry, name, width) : name
      })
      lines.length = 0
      if (printed.length > 0) await printBytes(`${printed.join('\n')}\n`)
    }
    for await (const one of found(reader, { given, following: after(paths, at) }, flags, problems)) {
      if (!isHeaded && one.below !== '') await printBytes(`${at === 0 ? '' : '\n'}${given.given}:\n`)
      isHeaded = true
      lines.push(one)
      // Columns of one directory are aligned; a long one is not kept back for that.
      if (lines.length >= linesAtOnce) await flush()
    }
    await flush()
  }
}

const linesAtOnce = 1_000

async function printJson(
  reader: DriveReader,
  paths: readonly GivenPath[],
  flags: Flags,
  problems: Problems,
): Promise<void> {
  const pieces: string[] = []
  const array = openJsonArray(text => pieces.push(text))
  for (const [at, given] of paths.entries()) {
    const asked = { given, following: after(paths, at) }
    for await (const { entry, below } of found(reader, asked, { ...flags, all: true }, problems)) {
      array.add(printedEntry(entry, shownAs(given, below)))
      if (pieces.length >= linesAtOnce) await printBytes(pieces.splice(0).join(''))
    }
  }
  array.end()
  await printBytes(pieces.join(''))
}
