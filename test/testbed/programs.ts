// Real programs on a drive: run with a time limit, and missing ones named with the package that brings them.
import { spawn } from 'node:child_process'
import { afterwards } from './within.js'

/** Debian's package for each program that is not part of every system. */
const packages: Readonly<Record<string, string>> = {
  getfattr: 'attr',
  nano: 'nano',
  obabel: 'openbabel',
  perl: 'perl',
  rsync: 'rsync',
  tmux: 'tmux',
  vim: 'vim',
  '/usr/bin/python3': 'python3',
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly input?: string
  /** Milliseconds, as `within` counts them; a program that takes longer is killed and fails its test. */
  readonly limit?: number
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Node as a user starts it, as the first words of a command. The test runner gives a test's process more threads for files;
 * `tap run` puts a loader into the environment, which takes longer to load than calcfs itself, and 25 MB.
 */
export const plainNode = [
  '/usr/bin/env',
  '-u',
  'NODE_OPTIONS',
  '-u',
  'UV_THREADPOOL_SIZE',
  process.execPath,
] as const

/** The engine of Node 22 does not know the flag, and ends. */
export const optimizesLate: readonly string[] =
  Number.parseInt(process.versions.node, 10) < 22 ? ['--interrupt-budget=500000'] : []

/** The same for a part of a test that runs in a process of its own, with what the runner gives a test file's: see bin/test-files.mjs. */
export const testNode = [...plainNode, ...optimizesLate, '--min-semi-space-size=16'] as const

/** Runs a program to its end. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const [first, ...rest] = program === process.execPath ? [...plainNode, ...args] : [program, ...args]
  const child = spawn(first, rest, {
    cwd: options.cwd,
    env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...options.environment },
    stdio: 'pipe',
  })
  const callOff = afterwards(options.limit ?? 30_000, () => child.kill('SIGKILL'))
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', piece => out.push(piece))
  child.stderr.on('data', piece => err.push(piece))
  // A program that does not read to the end of its input closes the pipe; its exit status is what counts.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  try {
    const code = await new Promise<number | null>((ended, failed) => {
      child.once('close', ended)
      child.once('error', cause => failed(missing(program, cause)))
    })
    return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }
  } finally {
    callOff()
  }
}

function missing(program: string, cause: Error): Error {
  const named = packages[program] ?? program
  return new Error(`${program} does not run; install it: apt-get install ${named}`, { cause })
}

/** What a program printed; an error with its words where it failed. */
export async function printed(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options)
  if (code === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
}

/** A line of shell in a directory. */
export const shell = (line: string, cwd: string): Promise<Ran> => run('bash', ['-c', line], { cwd })

/** Debian's own Python, which sees the modules that Debian installs. */
export const python = '/usr/bin/python3'
