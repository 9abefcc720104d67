// Commands of calcfs in one process that has loaded them. The first of each name is a process of its own, as a user starts it.
import { fileURLToPath } from 'node:url'
import { calcfs } from '../daemon.js'
import { Host } from '../machine/host.js'
import { type Ran, run } from '../programs.js'
import { within } from '../within.js'

/** Commands that ask a daemon or the service and end; the others are processes by what they do. */
const short =
  /^(cache|delete|doctor|drafts|fleet|find|get|history|info|log(in|out)|ls|mounts|pins?|refresh|report|resolve|restore|status|unpin|why)$/
/** Without a daemon these own drafts, or a pin, as long as their process lives. */
const ownsDrafts = (args: readonly string[]): boolean =>
  args.includes('--url') && /^(drafts|report|pin|unpin)$/.test(args[0] ?? '')
const started = new Set<string>()
/** Milliseconds: a pin waits for all of its files, on a machine that does other things too. */
const limit = 90_000

/** Runs a command to its end: its exit code and what it printed. */
export async function command(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const [name = ''] = args
  if (short.test(name) && started.has(name) && !ownsDrafts(args)) return ask(args, environment)
  started.add(name)
  return run(process.execPath, [calcfs, ...args], { environment })
}

const host = new Host<CommandCall, Ran>(
  fileURLToPath(new URL('./command-host.js', import.meta.url)),
  code => ({ code, stdout: '', stderr: 'the host of commands ended' }),
)

/** The same without a process for the first of a name. */
export async function ask(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const call = { args, environment: { ...process.env, ...environment } }
  return within(limit, `calcfs ${args.join(' ')}`, host.ask(call))
}

/** One command. */
export interface CommandCall {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}
