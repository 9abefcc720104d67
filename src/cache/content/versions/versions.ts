// Versions of a content: how an answer names its own, and whether another answer is of the same.
import { createHash } from 'node:crypto'
import { type ContentVersion, dateOf, type Instant } from '../../../remote/remote.js'

/** The validators of a version in few letters, to be compared only. */
export interface VersionFingerprint {
  readonly tag: string | undefined
  readonly modified: string | undefined
  /** What its date says. */
  readonly date?: Instant | undefined
}

/** Whether an answer is of another version than one before: its tag counts, else its date; one that names neither any more is. */
export function isOther(
  before: VersionFingerprint | undefined,
  now: VersionFingerprint | undefined,
): boolean {
  if (before?.tag !== undefined) return before.tag !== now?.tag
  return before?.modified !== undefined && before.modified !== now?.modified
}

/** Whether it carries a validator. */
export const tells = (version: VersionFingerprint | undefined): boolean =>
  version?.tag !== undefined || version?.modified !== undefined

/** Tags are compared without their mark of weakness: that one differs says that the version does. */
export function fingerprintOf(version: ContentVersion | undefined): VersionFingerprint | undefined {
  if (version === undefined) return undefined
  return {
    tag: validatorHash(version.tag?.replace(/^W\//, '')),
    modified: validatorHash(version.modified),
    date: dateOf(version),
  }
}

const validatorHash = (validator: string | undefined): string | undefined =>
  validator === undefined
    ? undefined
    : createHash('sha256').update(validator).digest('base64url').slice(0, 11)
