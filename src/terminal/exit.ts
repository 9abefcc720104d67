// Exit codes of every command, and the one sentence that a failed command prints.
import { CommanderError } from 'commander'
import { BadSetting } from '../config/settings.js'
import { asFailure, Failure, type FailureKind } from '../failure.js'

/** Stable codes for scripts and systemd units; docs/troubleshooting.md and `calcfs --help` quote them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  signIn: 3,
  unreachable: 4,
  noFuse: 5,
  mountPoint: 6,
  unsent: 7,
} as const

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed or answered with no',
  usage: 'wrong usage or setting',
  signIn: 'sign-in refused or ended',
  unreachable: 'service or daemon not reached',
  noFuse: 'FUSE missing or not allowed',
  mountPoint: 'mount point missing, not empty, in use or no drive',
  unsent: 'edits wait to be saved',
}

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The end of a command, with the sentence to print. */
export class Stop extends Error {
  override readonly name = 'Stop'
  constructor(
    readonly code: ExitCode,
    sentence: string,
    options: ErrorOptions = {},
  ) {
    super(sentence, options)
  }
}

const codesOfKinds: Partial<Record<FailureKind, ExitCode>> = {
  refused: exitCodes.usage,
  waiting: exitCodes.unsent,
  unauthenticated: exitCodes.signIn,
  'refuses-all': exitCodes.unreachable,
  timeout: exitCodes.unreachable,
  unreachable: exitCodes.unreachable,
  untrusted: exitCodes.unreachable,
}

export function exitCodeOf(thrown: unknown): ExitCode {
  if (thrown instanceof Stop) return thrown.code
  if (thrown instanceof BadSetting || badSettingIn(thrown) !== undefined) return exitCodes.usage
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage
  return codesOfKinds[asFailure(thrown).kind] ?? exitCodes.failed
}

/** The setting that a request failed for, such as a password that cannot be read; undefined for any other failure. */
export const badSettingIn = (thrown: unknown): BadSetting | undefined =>
  thrown instanceof Failure && thrown.cause instanceof BadSetting ? thrown.cause : undefined

/** The message on the terminal; undefined where commander has already printed it. */
export function sentenceOf(thrown: unknown): string | undefined {
  if (thrown instanceof CommanderError) return undefined
  if (thrown instanceof Stop || thrown instanceof BadSetting) return thrown.message
  const failure = asFailure(thrown)
  const said = failure.said === undefined ? '' : ` (the service said: ${failure.said})`
  return `${failure.message}${said}`
}

/** Resolves at the first of these signals; none of them ends the process by itself any more. */
export const untilSignal = (...signals: readonly NodeJS.Signals[]): Promise<void> =>
  new Promise(ended => {
    for (const signal of signals) process.on(signal, () => ended())
  })
