// Exit codes of every command, and the one sentence that a failed command prints.
import { CommanderError } from 'commander'
import { BadSetting } from '../config/settings.js'
import { asFailure, Failure, type FailureKind } from '../failure.js'

/** Stable codes for scripts and systemd units; docs/troubleshooting.md and `calcfs --help` quote them. */
export const exitCodes = {
  done: 0,
  /** Any failure without a code of its own. */
  failed: 1,
  /** A wrong flag, argument or setting: the same call will fail again. */
  usage: 2,
  /** The service refused the user name, password or token. */
  signIn: 3,
  /** The service or a drive's daemon did not answer, or the service cannot be trusted. */
  unreachable: 4,
  /** This machine cannot mount: FUSE is missing or not allowed. */
  noFuse: 5,
  /** The mount point is missing, not empty, or not a mount of ours. */
  mountPoint: 6,
  /** Edits are waiting to be sent. */
  unsent: 7,
} as const

export const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed or answered with no',
  usage: 'wrong usage or setting',
  signIn: 'sign-in refused or ended',
  unreachable: 'service or daemon not reached',
  noFuse: 'FUSE missing or not allowed',
  mountPoint: 'mount point missing, not empty or no drive',
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
