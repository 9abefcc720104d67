// `calcfs ls`: the entries of directories of the drive, mounted or not.
import type { Command } from 'commander'
import { type JsonFlag, jsonFlag, printBytes, printJson } from '../../terminal/print.js'
import { wholeNumber } from '../../terminal/settings.js'
import { driveCommand, withReader } from '../control/with-drive.js'
import { entriesAt, type Found, longLine, Problems, printedEntry, shownAs } from './output.js'

interface Flags extends JsonFlag {
  readonly long?: true
  readonly all?: true
  readonly depth: number
}

export const lsCommand = (): Command =>
  driveCommand('ls')
    .description('list directories of the drive; needs no FUSE, and no mount')
    .argument('[path...]', 'paths of the drive, or below a mount; default: where you stand, or the top')
    .option('-l, --long', 'show mode, size, time and where a link leads')
    .option('-a, --all', 'show names that begin with a dot, too')
    .option('--depth <levels>', 'so many levels below each path', wholeNumber(0), 1)
    .addOption(jsonFlag('an array of entries'))
    .action((paths: readonly string[], flags: Flags, command: Command) => list(command, paths, flags))
    .examples(
      ['calcfs ls -l projects', 'the projects, each with its time'],
      ["calcfs ls --depth 2 --json 'projects/Water splitting'", 'two levels, for a script'],
    )

async function list(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  const problems = new Problems()
  const { long = false, json = false, depth } = flags
  const all: object[] = []
  await withReader(command, given.length === 0 ? ['.'] : given, async (reader, paths) => {
    for (const [at, path] of paths.entries()) {
      const shown: Found[] = []
      const asked = { depth, attributes: long || json, follow: false, filter: {} }
      for await (const entries of entriesAt(reader, path, asked, problems))
        for (const one of entries) if (isShown(one, flags)) shown.push(one)
      const nameOf = (below: string): string =>
        below !== '' && path.given === '.' ? below : shownAs(path, below)
      if (json) for (const { entry, below } of shown) all.push(printedEntry(entry, nameOf(below)))
      else if (shown.length > 0) {
        const isHeaded = paths.length > 1 && shown[0]?.below !== ''
        const heading = isHeaded ? `${at === 0 ? '' : '\n'}${path.given}:\n` : ''
        await printBytes(`${heading}${linesOf(shown, path.given, long).join('\n')}\n`)
      }
    }
  })
  if (json) printJson(all)
  process.exitCode = problems.exitCode
}

/** Of a directory what is in it, of a file it itself. Hidden names are left out with what is in them. */
function isShown({ entry, below }: Found, { all, depth }: Flags): boolean {
  if (below === '') return entry.type !== 'directory' || depth === 0
  return all === true || !/(^|\/)\./.test(below)
}

function linesOf(shown: readonly Found[], given: string, isLong: boolean): readonly string[] {
  const width = shown.reduce((most, { entry }) => Math.max(most, String(entry.size ?? '').length), 0)
  return shown.map(({ entry, below }) => (isLong ? longLine(entry, below || given, width) : below || given))
}
