// `--daemon`: runs the same command line again, detached, and hands the secrets of the environment over to it on a channel.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Environment } from '../../config/places.js'
import { secretVariables } from '../../config/secret.js'
import { type ExitCode, exitCodes, Stop } from '../../terminal/exit.js'

interface Word {
  readonly mountPoint: string
  readonly user: string
  /** Edits of earlier mounts that wait to be saved. */
  readonly unsaved: number
  /** The operations that the drive lacks, and the advice, in sentences. */
  readonly troubles: readonly string[]
}

export type StartedMount = Word & { readonly pid: number | undefined }

/** Milliseconds a mount may take: a keyring that is unlocked by hand, a log-in, the first request and the kernel. */
const startLimit = 105_000

/** Where Node has the flag, SIGUSR1 opens no debugger in the moment before `bin/calcfs` is run either. */
const withoutDebugger = ['--disable-sigusr1'].filter(flag => process.allowedNodeEnvironmentFlags.has(flag))

/**
 * Starts this command line in the background and returns when its drive is mounted. Secrets of the environment go over the
 * channel between the two: what a process was started with can be read in /proc as long as it lives.
 * @param staysInGroup for an automount point, where every process but those of the group that mounts waits for the mount
 */
export async function inBackground(environment: Environment, staysInGroup: boolean): Promise<StartedMount> {
  const args = process.argv.slice(1).map(argument => (argument === '--daemon' ? '--in-background' : argument))
  const { plain, secrets } = parted(environment)
  const child = spawn(process.execPath, [...withoutDebugger, ...args], {
    detached: !staysInGroup,
    // glibc gives each thread memory of its own, and takes none back: 12 MB of 170 after a walk through 55,000 folders.
    env: { MALLOC_ARENA_MAX: '1', ...plain },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  // Where it has ended already, its exit says why.
  child.send(secrets, () => {})
  let said = ''
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece).slice(-4000)
  })
  const word = await new Promise<Word | undefined>(done => {
    setTimeout(() => done(undefined), startLimit).unref()
    child.once('message', told => done(told as Word))
    child.once('exit', () => done(undefined))
  })
  child.stderr?.destroy()
  if (word === undefined) {
    // A drive must not come up after this command has failed.
    child.kill('SIGTERM')
    // The last one: what it says before, its starter has said.
    const sentence = [...said.matchAll(/^calcfs: (.*)$/gm)].at(-1)?.[1]
    throw new Stop(
      codeOf(child.exitCode),
      sentence ?? 'the background process did not come up; try without --daemon.',
    )
  }
  child.disconnect()
  child.unref()
  return { ...word, pid: child.pid }
}

/** The exit code that the process would have had in the foreground. */
const codeOf = (code: number | null): ExitCode =>
  Object.values(exitCodes).find(known => known === code && known !== exitCodes.done) ?? exitCodes.failed

/** A mount that shows texts which the service has not got says so. */
export const waitingSentence = (unsaved: number): string =>
  `${unsaved === 1 ? 'one edit of an earlier mount is' : `${unsaved} edits of earlier mounts are`} not saved yet: calcfs drafts list`

/** True if this process was started by `--daemon`, and its terminal is not for it. */
export const isInBackground = (): boolean => process.send !== undefined

export function tellStarter(word: Word): void {
  process.send?.(word)
}

function parted(environment: Environment): { readonly plain: Environment; readonly secrets: Environment } {
  const isSecret = ([name]: readonly [string, unknown]): boolean => secretVariables.includes(name)
  const all = Object.entries(environment)
  const secrets = all.filter(isSecret).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return {
    plain: Object.fromEntries(all.filter(one => !isSecret(one))),
    secrets: Object.fromEntries(secrets),
  }
}

/** Milliseconds in which the starting process hands them over. */
const secretsLimit = 20_000

/** The first message of the process that started this one. @throws Stop where there is none */
export async function secretsOfStarter(): Promise<Environment> {
  if (process.send === undefined)
    throw new Stop(exitCodes.usage, '--in-background is what --daemon does inside; use --daemon.')
  try {
    const [secrets] = await once(process, 'message', { signal: AbortSignal.timeout(secretsLimit) })
    return secrets
  } catch (cause) {
    const sentence = 'the starting process has sent nothing; try without --daemon.'
    throw new Stop(exitCodes.usage, sentence, { cause })
  }
}

/** Programs that this process starts inherit none of them; its own user alone can read what it was started with. */
export function forgetOwnSecrets(): void {
  for (const name of secretVariables) delete process.env[name]
}
