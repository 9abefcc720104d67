// Times a command: in a process group of its own, its output in a file, ended once its time is over.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Timed {
  /** Wall time from before the start of the process to its end. */
  readonly seconds: number
  /** The exit status; 'late' where the limit was over first. */
  readonly end: number | 'late'
  readonly output: string
  /** What it said on standard error. */
  readonly complaint: string
}

export interface Task {
  /** A line for bash. */
  readonly line: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly limitSeconds: number
  /** A directory for the output. */
  readonly scratch: string
}

/** What runs now, so that an interrupt can end it before its mount goes. */
let current: ChildProcess | undefined

/** Ends the command that runs now, if any. */
export function endCommand(): void {
  if (current !== undefined) killGroup(current)
}

/** Runs a command line to its end or its limit; a command that hangs in the kernel is left to die with its mount. */
export async function timed(task: Task): Promise<Timed> {
  const [output, complaint] = [join(task.scratch, 'output'), join(task.scratch, 'complaint')]
  const files = [openSync(output, 'w'), openSync(complaint, 'w')] as const
  const began = process.hrtime.bigint()
  // The shell goes there by itself: a directory that hangs would else hold this process.
  const child = spawn('bash', ['-c', `cd -- "$1" || exit\n${task.line}`, 'bash', task.directory], {
    env: { ...process.env, LC_ALL: 'C', ...task.environment },
    stdio: ['ignore', ...files],
    detached: true,
  })
  current = child
  const end = await endOf(child, task.limitSeconds)
  current = undefined
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  for (const file of files) closeSync(file)
  return {
    seconds,
    end,
    output: await readFile(output, 'utf8'),
    complaint: (await readFile(complaint, 'utf8')).trim(),
  }
}

function endOf(child: ChildProcess, limitSeconds: number): Promise<number | 'late'> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      killGroup(child)
      resolve('late')
    }, limitSeconds * 1000)
    const ended = (): void => clearTimeout(late)
    child.once('exit', ended).once('error', ended)
    child.once('exit', code => resolve(code ?? 1)).once('error', reject)
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}

/** The middle one of several numbers; of two middle ones their mean. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  if (low === undefined || high === undefined) throw new Error('there is no median of nothing')
  return (low + high) / 2
}
