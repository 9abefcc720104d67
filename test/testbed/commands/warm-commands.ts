// Commands of calcfs in one process that has loaded them. The first of each name is a process of its own, as a user starts it.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { calcfs } from '../daemon.js'
import { type Ran, run, testNode } from '../programs.js'
import { within } from '../within.js'

const program = fileURLToPath(new URL('./command-host.js', import.meta.url))

/** Commands that ask a daemon or the service and end; the others are processes by what they do. */
const short = new Set([
  'cache',
  'delete',
  'doctor',
  'drafts',
  'fleet',
  'find',
  'get',
  'history',
  'info',
  'login',
  'logout',
  'ls',
  'mounts',
  'pin',
  'pins',
  'refresh',
  'report',
  'resolve',
  'restore',
  'status',
  'unpin',
  'why',
])
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
  if (short.has(name) && started.has(name) && !ownsDrafts(args)) return ask(args, environment)
  started.add(name)
  return run(process.execPath, [calcfs, ...args], { environment })
}

const waiting = new Map<number, (ran: Ran) => void>()
let host: ChildProcess | undefined
let asked = 0

/** The same without a process for the first of a name. */
export async function ask(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  host ??= begun()
  const number = ++asked
  const ended = new Promise<Ran>(resolve => waiting.set(number, resolve))
  const call: CommandCall = { number, args, environment: { ...process.env, ...environment } }
  host.send(call)
  return within(limit, `calcfs ${args.join(' ')}`, ended)
}

/** It ends with this process. */
function begun(): ChildProcess {
  const [first, ...rest] = testNode
  const child = spawn(first, [...rest, program], {
    cwd: '/',
    env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.on('message', ({ number, ran }: CommandAnswer) => {
    waiting.get(number)?.(ran)
    waiting.delete(number)
  })
  child.once('exit', code => {
    host = undefined
    for (const resolve of waiting.values())
      resolve({ code, stdout: '', stderr: 'the host of commands ended' })
    waiting.clear()
  })
  child.unref()
  child.channel?.unref()
  return child
}

/** One command; its answer carries the same number. */
export interface CommandCall {
  readonly number: number
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface CommandAnswer {
  readonly number: number
  readonly ran: Ran
}
