// `calcfs log [DRIVE]`: the log of a drive's daemon, wherever it goes, and what is added to it.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import { defaultLogFile } from '../../config/places.js'
import type { Control } from '../../drive/interface/control.js'
import { mountPath } from '../../mount/mount-point.js'
import { codeOf } from '../../system/error-code.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { complain, printStyled, visible, visibleInJson } from '../../terminal/print.js'
import { configured, wholeNumber } from '../../terminal/settings.js'
import { drivePath, onDrive } from '../control/choose.js'
import { driveAt, NoAnswer } from '../control/daemon.js'
import { untilInterrupted } from './screen.js'

interface Flags {
  readonly lines: number
  readonly follow: boolean
  readonly level: keyof typeof levels
  readonly json?: true
}

/** Milliseconds between two looks for new lines. */
const everyMs = 400

export const logCommand = (): Command =>
  new CliCommand('log')
    .description(
      "show the log of a drive's daemon and follow it, wherever it goes: a file, the journal, a terminal or nothing; Ctrl-C ends it",
    )
    .argument('[drive]', 'the drive that is meant; default: the one you stand in, or the only one')
    .option('-n, --lines <number>', 'how many lines to begin with', wholeNumber(0), 20)
    .option('--no-follow', 'end after these lines')
    .addOption(
      new Option('--level <level>', 'only lines of this level and above')
        .choices(Object.keys(levels))
        .default('debug'),
    )
    .option('--json', 'print the lines as they were written, each an object of JSON')
    .action((drive: string | undefined, flags: Flags, command: Command) => show(command, drive, flags))
    .examples(
      ['calcfs log', 'the last twenty lines, and what follows'],
      ['calcfs log ~/lab --no-follow --level warn', 'what went wrong lately'],
      ['calcfs log ~/lab -n 1000 --no-follow --json', 'for a script'],
    )

async function show(command: Command, drive: string | undefined, flags: Flags): Promise<void> {
  const print = await printer(flags)
  const control = await controlOf(drive)
  if (control === undefined) return showLeft(command, drive, { flags, print })
  const { lines, next, file } = await control.log({ after: 0 })
  const before = file === undefined ? lines : await lastLines(file, Math.max(1, flags.lines))
  print(before.slice(before.length - Math.min(before.length, flags.lines)))
  if (flags.follow) await follow(control, { file, next, last: before.at(-1) }, print)
}

/** Up to where a log was shown. */
interface Shown {
  readonly file: string | undefined
  /** The number of the daemon's next line, and the line that was shown last. */
  next: number
  last: string | undefined
}

/** The daemon tells the new lines; what it wrote at its end is in the file alone. */
async function follow(control: Control, shown: Shown, print: Output['print']): Promise<void> {
  function more(lines: readonly string[]): void {
    // The file may have been read after the daemon was asked.
    const fresh = lines.slice(lines.lastIndexOf(shown.last ?? '') + 1)
    shown.last = fresh.at(-1) ?? shown.last
    print(fresh)
  }
  await untilInterrupted(everyMs, async () => {
    try {
      const { lines, next } = await control.log({ after: shown.next })
      shown.next = next
      more(lines)
      return true
    } catch {
      const left = shown.file === undefined ? [] : await lastLines(shown.file, lastWords)
      if (left.includes(shown.last ?? '')) more(left)
      complain('the daemon does not answer any more; calcfs status says whether it lives.')
      return false
    }
  })
}

/** Lines at the end of a log file among which are those of a daemon that ends. */
const lastWords = 1_000

interface Output {
  readonly flags: Flags
  readonly print: (lines: readonly string[]) => void
}

async function printer({ json, level }: Flags): Promise<Output['print']> {
  const form = json === true ? (line: string) => `${visible(line)}\n` : await forPeople()
  return lines => {
    for (const line of lines) if (isAtLeast(line, level)) printStyled(form(line))
  }
}

async function forPeople(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({
    ignore: 'pid,hostname',
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss',
    colorize: process.stdout.isTTY === true,
  })
  return line => pretty(visibleInJson(line))
}

/** Undefined where no daemon answers there. */
async function controlOf(drive: string | undefined): Promise<Control | undefined> {
  if (drive !== undefined && (await onDrive(drive)) === undefined) return undefined
  try {
    const mountPoint = await drivePath(drive)
    return mountPoint === undefined ? undefined : await driveAt(mountPoint)
  } catch (thrown) {
    if (drive !== undefined && thrown instanceof NoAnswer && thrown.daemon === 'dead') return undefined
    throw thrown
  }
}

/** The log that an ended daemon has left. */
async function showLeft(
  command: Command,
  drive: string | undefined,
  { flags, print }: Output,
): Promise<void> {
  if (drive === undefined)
    throw new Stop(
      exitCodes.mountPoint,
      'no drive is mounted; calcfs log DIRECTORY shows the log that an earlier one has left.',
    )
  const path = await mountPath(resolve(drive))
  const { config, sources } = configured(command)
  const file = config.logFile ?? defaultLogFile(path, config, sources.environment)
  const lines = await lastLines(file, flags.lines)
  if (lines.length === 0)
    throw new Stop(
      exitCodes.mountPoint,
      `no daemon runs for ${path}, and ${file} holds no log of one; calcfs status lists the drives.`,
    )
  print(lines)
  complain(`no daemon runs for ${path} any more; this is what ${file} holds.`)
}

/** The ending of the lines before those of the file (`terminal/log.ts`). */
const before = '.1'

/** The last lines of a log file, those before its last rotation too. */
async function lastLines(file: string, count: number): Promise<readonly string[]> {
  const own = await linesOf(file)
  const earlier = own.length >= count ? [] : await linesOf(file + before)
  return count === 0 ? [] : [...earlier, ...own].slice(-count)
}

const linesOf = async (file: string): Promise<readonly string[]> =>
  ((await readFile(file, 'utf8').catch(absent)) ?? '').split('\n').filter(line => line !== '')

function absent(thrown: unknown): undefined {
  if (codeOf(thrown) !== 'ENOENT') throw thrown
}

/** Numbers of pino's levels. */
const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** A line that is no JSON was written by something else: it is shown at every level. */
function isAtLeast(line: string, level: keyof typeof levels): boolean {
  const found = /"level":(\d+)/.exec(line)?.[1]
  return found === undefined || Number(found) >= levels[level]
}
