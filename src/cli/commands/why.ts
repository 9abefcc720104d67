// `calcfs why PATH` and `calcfs refresh PATH`: explains a failure and what to do, and requests a path again.
import { Command } from 'commander'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { driveAt } from '../control/find-daemon.js'
import { drivePathOf, mountFlag } from '../control/select-mount.js'

interface Flags {
  readonly mount?: string
  readonly json?: true
}

const pathHelp = 'a path below a mount, or of the drive: reports/42.json'

export function whyCommand(): Command {
  return new Command('why')
    .description('say why something failed at a path: what was tried, what the service said, what to do')
    .argument('<path>', pathHelp)
    .option(...mountFlag)
    .option('--json', 'print {"path", "wrong", "sentences"}')
    .action((path: string, flags: Flags) => why(path, flags))
}

export function refreshCommand(): Command {
  return new Command('refresh')
    .description('fetch a directory or a file again, as touch of a directory does')
    .argument('<path>', pathHelp)
    .option(...mountFlag)
    .action((path: string, flags: Flags) => refresh(path, flags))
}

async function why(given: string, flags: Flags): Promise<void> {
  const { mountPoint, path } = await drivePathOf(given, flags.mount)
  const explained = await (await driveAt(mountPoint)).why({ path })
  if (flags.json === true) console.log(JSON.stringify({ path, ...explained }, null, 2))
  else console.log(explained.sentences.join('\n'))
}

async function refresh(given: string, flags: Flags): Promise<void> {
  const { mountPoint, path } = await drivePathOf(given, flags.mount)
  const { stale } = await (await driveAt(mountPoint)).refresh({ path })
  if (stale === undefined) return
  throw new Stop(
    exitCodes.unreachable,
    `${path}: the cached data is still shown, because the service does not answer: ${stale}`,
  )
}
