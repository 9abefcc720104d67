// `calcfs get`: copies trees and files of the drive to the local disk, mounted or not.
import { setMaxListeners } from 'node:events'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { Option } from 'commander'
import type { DriveReader } from '../../drive/interface/reader.js'
import { bytesText, counted, filesText } from '../../terminal/amount.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { complain, type JsonFlag, jsonFlag, printJson, printLine } from '../../terminal/print.js'
import { collected, wholeNumber } from '../../terminal/settings.js'
import { type GivenPath, onDrive } from '../control/choose.js'
import { driveCommand, withReader } from '../control/with-drive.js'
import type { CopyOrder, CopyProgress, CopyRules } from './copy.js'
import { Problems } from './output.js'
import { drawProgress } from './progress-line.js'

interface Flags extends Omit<CopyRules, 'base'>, JsonFlag {
  readonly as?: string
  readonly to?: string
}

export const getCommand = (): Command =>
  driveCommand('get')
    .description(
      'copy trees and files of the drive to this machine; needs no FUSE, and no mount. What is there already is not fetched again',
    )
    .argument('<path...>', 'paths of the drive, or below a mount')
    .addOption(new Option('--as <name>', 'what the copy of the one path is called').conflicts('to'))
    .option(
      '--to <directory>',
      'the directory for the copies, made if it is missing; default: the current one',
    )
    .option('--jobs <number>', 'files that are fetched at once', wholeNumber(1), 32)
    .option('--include <glob>', 'only files whose names match; with a / their paths below PATH', collected)
    .option('--exclude <glob>', 'nothing whose name, or path below PATH, matches', collected)
    .option('-L, --follow', 'copy what links below lead to; else they are copied as links')
    .option('--checksum', 'compare the bytes of what is there already, not only size and time')
    .option('--overwrite', 'replace files that differ here; else they stay, and are named')
    .addOption(jsonFlag('what was copied and what could not be had'))
    .action((paths: readonly string[], flags: Flags, command: Command) => get(command, paths, flags))
    .examples(
      ["calcfs get 'projects/Water splitting' --to ~/data", 'again: fetches only what is new'],
      ["calcfs get projects --include '*.out' --jobs 8", 'the outputs of all projects'],
      ['calcfs get reports/42 --follow --as paper', 'a report with its calculations'],
    )

async function get(command: Command, given: readonly string[], flags: Flags): Promise<void> {
  if (flags.as !== undefined && given.length > 1)
    throw new Stop(exitCodes.usage, '--as names the copy of one path; use --to DIRECTORY for several.')
  const base = resolve(flags.to ?? '.')
  await refuseDrive(flags.as === undefined ? base : resolve(flags.as))
  await withReader(command, given, (reader, paths) =>
    copy(reader, ordersFor(paths, flags, base), flags, flags.to === undefined ? undefined : base),
  )
}

/** The local path of each copy. @throws Stop where one has no name, or two have the same */
function ordersFor(paths: readonly GivenPath[], flags: Flags, base: string): readonly CopyOrder[] {
  const orders = paths.map(({ given, path }) => {
    if (flags.as !== undefined) return { path, target: resolve(flags.as) }
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (name !== '') return { path, target: join(base, name) }
    throw new Stop(
      exitCodes.usage,
      `${given} is the top of the drive, which has no name; name the copy with --as.`,
    )
  })
  const twice = orders.find(({ target }, at) => orders.findIndex(other => other.target === target) !== at)
  if (twice === undefined) return orders
  throw new Stop(
    exitCodes.usage,
    `two of the paths would be copied to ${twice.target}; copy them one by one, with --as.`,
  )
}

/** The copy is on this machine: a drive takes no files. */
async function refuseDrive(target: string): Promise<void> {
  const place = await onDrive(target)
  if (place === undefined) return
  throw new Stop(
    exitCodes.usage,
    `${target} lies on the drive ${place.mountPoint} itself; name a directory of this machine with --to.`,
  )
}

async function copy(
  reader: DriveReader,
  orders: readonly CopyOrder[],
  { json, ...rules }: Flags,
  base: string | undefined,
): Promise<void> {
  const { Copy } = await import('./copy.js')
  const stop = new AbortController()
  // Each file under way listens to it.
  setMaxListeners(0, stop.signal)
  const copying = new Copy(reader, { ...rules, base }, stop)
  const { progress } = copying
  const line = drawProgress(() => progress)
  const problems = new Problems(text => {
    line.clear()
    complain(text)
  })
  const unlisten = stopBySignal(stop)
  try {
    await copying.run(orders, problems.add)
  } catch (thrown) {
    line.end()
    const isBegun = progress.files > 0 || progress.links > 0 || thrown instanceof Interrupted
    if (isBegun) complain(`stopped: ${soFar(progress)}; the same command goes on from there.`)
    if (!(thrown instanceof Interrupted)) throw thrown
    process.exitCode = thrown.exitCode
    return
  } finally {
    unlisten()
    line.end()
  }
  const { copied, copiedBytes, same, links } = progress
  if (json === true) printJson({ copied, copiedBytes, same, links, problems: problems.all })
  else tell(progress, problems)
  process.exitCode = problems.exitCode
}

class Interrupted extends Error {
  readonly exitCode: number
  constructor(signal: NodeJS.Signals) {
    super(signal)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/** Ctrl-C lets what is under way be cleaned up; a second one ends the command at once. */
function stopBySignal(stop: AbortController): () => void {
  const met = (signal: NodeJS.Signals): void => {
    const interrupted = new Interrupted(signal)
    if (stop.signal.aborted) process.exit(interrupted.exitCode)
    stop.abort(interrupted)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, met)
  return () => {
    for (const signal of signals) process.off(signal, met)
  }
}

const soFar = ({ copied, copiedBytes, same }: CopyProgress): string =>
  `${filesText(copied)} copied (${bytesText(copiedBytes)}), ${counted(same)} there already`

function tell(progress: CopyProgress, { all }: Problems): void {
  printLine(`${soFar(progress)}${all.length === 0 ? '' : `, ${counted(all.length)} could not be had`}.`)
  if (progress.linksOut > 0)
    printLine(
      `${counted(progress.linksOut)} of the links lead out of what was copied; --follow copies what they lead to.`,
    )
}
