// `calcfs why PATH` and `calcfs refresh PATH`: explains a failure and what to do, and requests a path again.
import type { Command } from 'commander'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printFound, printJson } from '../../terminal/print.js'
import { adviceOf, chosenMounted, mountFlag, pathHelp } from '../control/choose.js'
import { driveAt } from '../control/daemon.js'

const pathCommand = (name: string, json: string): CliCommand =>
  new CliCommand(name)
    .argument('<path>', pathHelp)
    .option(...mountFlag)
    .addOption(jsonFlag(json))

export const whyCommand = (): Command =>
  pathCommand('why', '{"path", "wrong", "sentences"}')
    .description('say why something failed at a path: what was tried, what the service said, what to do')
    .action((path: string, flags: JsonFlag, command: Command) => why(command, path, flags))
    .examples(
      ['calcfs why ~/lab/reports/42.json', 'a path below a mount'],
      ['calcfs why reports/42.json --json', 'a path of the drive, for a script'],
    )

export const refreshCommand = (): Command =>
  pathCommand('refresh', '{"path", "stale"}, stale where the service does not answer')
    .description('fetch a directory or a file again, as touch of a directory does')
    .action((path: string, flags: JsonFlag, command: Command) => refresh(command, path, flags))
    .examples(
      ['calcfs refresh ~/lab/projects', 'see what others have changed'],
      ['calcfs refresh reports/42.json', 'one record, from inside the drive'],
    )

async function why(command: Command, given: string, flags: JsonFlag): Promise<void> {
  const { mountPoint, path } = await place(command, given)
  const { wrong, ...explained } = await (await driveAt(mountPoint)).why({ path })
  const sentences = explained.sentences.map(await adviceOf(mountPoint))
  printFound(flags, { path, wrong, sentences }, sentences.join('\n'))
}

async function refresh(command: Command, given: string, flags: JsonFlag): Promise<void> {
  const { mountPoint, path } = await place(command, given)
  const { stale } = await (await driveAt(mountPoint)).refresh({ path })
  if (flags.json === true) printJson({ path, stale })
  if (stale === undefined) return
  throw new Stop(exitCodes.unreachable, `${path}: the cached data is still shown, because ${stale}`)
}

async function place(command: Command, given: string) {
  const { mountPoint, paths } = await chosenMounted(command, [given])
  return { mountPoint, path: paths[0]?.path ?? '/' }
}
