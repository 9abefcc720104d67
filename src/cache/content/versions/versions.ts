// When two answers are of two versions of one content: their validators compared, as far as this service's mean anything.
import { createHash } from 'node:crypto'
import type { ContentVersion } from '../../../remote/remote.js'

/** The validators of a version in few letters, to be compared only. */
export interface VersionFingerprint {
  readonly tag: string | undefined
  readonly modified: string | undefined
}

export interface Versions {
  /** False where nothing that both carry tells them apart. */
  differ(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean
  /** True where a validator that both carry says that they are one. */
  same(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean
  /** What of it counts, to be sent as a condition. */
  counting(version: ContentVersion | undefined): ContentVersion | undefined
  /** Whether it carries a validator that counts. */
  tells(version: VersionFingerprint | undefined): boolean
  /** Both are of one unchanging content: what differs between them is no validator, and counts no more. */
  distrust(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): void
  /** A content had this version, and has another now. */
  leave(name: string, version: VersionFingerprint | undefined): void
  /** Whether a content had this very version before and has left it. */
  hadLeft(name: string, version: VersionFingerprint | undefined): boolean
}

const namesAtMost = 1000

/** Trusts a service's entity tags and dates until they are seen to change without a reason. */
export function openVersions(): Versions {
  let trustsTags = true
  let trustsDates = true
  const left = new Map<string, readonly VersionFingerprint[]>()

  function differ(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean {
    if (trustsTags && one?.tag !== undefined && other?.tag !== undefined) return one.tag !== other.tag
    if (!trustsDates || one?.modified === undefined || other?.modified === undefined) return false
    return one.modified !== other.modified
  }

  function same(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean {
    const byTag = trustsTags && one?.tag !== undefined && one.tag === other?.tag
    const byDate = trustsDates && one?.modified !== undefined && one.modified === other?.modified
    return (byTag || byDate) && !differ(one, other)
  }

  return {
    differ,
    same,
    counting(version) {
      const tag = trustsTags ? version?.tag : undefined
      const modified = trustsDates ? version?.modified : undefined
      return tag === undefined && modified === undefined ? undefined : { tag, modified }
    },
    tells: version =>
      (trustsTags && version?.tag !== undefined) || (trustsDates && version?.modified !== undefined),
    distrust(one, other) {
      if (trustsTags && one?.tag !== other?.tag) trustsTags = false
      else if (one?.modified !== other?.modified) trustsDates = false
    },
    leave(name, version) {
      if (version === undefined) return
      const [oldest] = left.keys()
      if (left.size >= namesAtMost && oldest !== undefined) left.delete(oldest)
      left.set(name, [...(left.get(name) ?? []), version].slice(-8))
    },
    hadLeft: (name, version) =>
      version !== undefined && (left.get(name) ?? []).some(before => !differ(before, version)),
  }
}

/** Tags are compared without their mark of weakness: that one differs says that the version does. */
export function fingerprintOf(version: ContentVersion | undefined): VersionFingerprint | undefined {
  if (version === undefined) return undefined
  return { tag: validatorHash(version.tag?.replace(/^W\//, '')), modified: validatorHash(version.modified) }
}

const validatorHash = (validator: string | undefined): string | undefined =>
  validator === undefined
    ? undefined
    : createHash('sha256').update(validator).digest('base64url').slice(0, 11)
