// `calcfs log [DRIVE]`: the log file of a drive's daemon, and what is added to it.
import { createReadStream, existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import { defaultLogFile } from '../../config/places.js'
import type { Status } from '../../drive/interface/control.js'
import { mountPath } from '../../mount/mount-point.js'
import { unlessMissing } from '../../system/error-code.js'
import { isProcessAlive } from '../../system/process.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { complain, type JsonFlag, printStyled, visible, visibleInJson } from '../../terminal/print.js'
import { configured, wholeNumber } from '../../terminal/settings.js'
import { chosen, namesService, noneMounted, onDrive } from '../control/choose.js'
import { driveAt, NoAnswer } from '../control/daemon.js'
import { untilInterrupted } from './screen.js'

interface Flags extends JsonFlag {
  readonly lines: number
  readonly follow?: boolean
  readonly level: keyof typeof levels
}

/** Milliseconds between two looks for new lines. */
const everyMs = 400

export const logCommand = (): Command =>
  new CliCommand('log')
    .description("show the log file of a drive's daemon and follow it; Ctrl-C ends it")
    .argument('[drive]', 'the drive that is meant; default: the one you stand in, or the only one')
    .option('-n, --lines <number>', 'how many lines to begin with', wholeNumber(0), 20)
    .option('--follow', 'go on with what is added; so it is without --json, too')
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
      ['calcfs log ~/lab -n 1000 --json', 'for a script'],
    )

async function show(command: Command, drive: string | undefined, flags: Flags): Promise<void> {
  const form = flags.json === true ? (line: string) => `${visible(line)}\n` : await forPeople()
  const print = (lines: readonly string[]) => printStyled(lines.map(form).join(''))
  const { file, pid } = await logOf(command, drive)
  const more = openTail(file, line => isAtLeast(line, flags.level))
  const lines = await more()
  print(lines.slice(Math.max(0, lines.length - flags.lines)))
  if (pid === undefined) complain(`no daemon answers there; this is what ${file} holds.`)
  else if (flags.follow ?? flags.json !== true)
    await untilInterrupted(everyMs, async () => {
      const isAlive = await isProcessAlive(pid)
      print(await more())
      if (!isAlive) complain('the daemon has ended.')
      return isAlive
    })
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

interface KeptLog {
  readonly file: string
  /** Of the daemon that writes it; undefined where none answers. */
  readonly pid: number | undefined
}

/** @throws Stop where the log goes to no file, or an earlier daemon has left none */
async function logOf(command: Command, drive: string | undefined): Promise<KeptLog> {
  const status = await statusOf(command, drive)
  if (status !== undefined) {
    const { logFile: file, mountPoint, pid } = status
    if (file !== undefined) return { file, pid }
    throw new Stop(
      exitCodes.failed,
      `the log of ${mountPoint} goes where it was mounted: to its terminal, or in a unit to the journal (journalctl); calcfs mount --log-file keeps it in a file.`,
    )
  }
  if (drive === undefined && namesService(command)) noneMounted(true)
  if (drive === undefined)
    throw new Stop(
      exitCodes.mountPoint,
      'no drive of yours is mounted; calcfs log DIRECTORY shows the log that an earlier one has left.',
    )
  const path = await mountPath(resolve(drive))
  const { config, sources } = configured(command)
  const file = config.logFile ?? defaultLogFile(path, config, sources.environment)
  if (existsSync(file)) return { file, pid: undefined }
  throw new Stop(
    exitCodes.mountPoint,
    `no daemon answers for ${path}, and there is no log of one at ${file}; calcfs status lists the drives.`,
  )
}

/** Undefined where no daemon answers there: its log may be there still. */
async function statusOf(command: Command, drive: string | undefined): Promise<Status | undefined> {
  const { mountPoint } =
    drive === undefined ? await chosen(command, []) : ((await onDrive(drive)) ?? { mountPoint: undefined })
  try {
    return mountPoint === undefined ? undefined : await (await driveAt(mountPoint)).status({})
  } catch (thrown) {
    if (drive !== undefined && thrown instanceof NoAnswer) return undefined
    throw thrown
  }
}

/** The ending of the lines before those of the file (`terminal/log.ts`). */
const before = '.1'

/** Answers the lines that were added since it was asked last, at first all, those before the last rotation too. */
function openTail(file: string, isMeant: (line: string) => boolean): () => Promise<readonly string[]> {
  let [inode, offset] = [0, 0]
  return async () => {
    const now = await stat(file).catch(unlessMissing)
    if (now === undefined) return []
    let moved: Buffer | undefined
    if (now.ino !== inode) {
      const isRotated = inode === 0 || (await stat(file + before).catch(unlessMissing))?.ino === inode
      if (isRotated) moved = await bytesFrom(file + before, offset)
    }
    if (now.ino !== inode || now.size < offset) offset = 0
    const bytes = await bytesFrom(file, offset)
    // A line that is being written is read once it is whole.
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
    inode = now.ino
    offset += whole.length
    return `${moved ?? ''}${whole}`.split('\n').filter(line => line !== '' && isMeant(line))
  }
}

const bytesFrom = async (file: string, start: number): Promise<Buffer> =>
  Buffer.concat((await createReadStream(file, { start }).toArray().catch(unlessMissing)) ?? [])

const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** A line that is no JSON was written by something else: it is shown at every level. */
function isAtLeast(line: string, level: keyof typeof levels): boolean {
  const found = /"level":(\d+)/.exec(line)?.[1]
  return found === undefined || Number(found) >= levels[level]
}
