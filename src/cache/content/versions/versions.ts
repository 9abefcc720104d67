// Versions of a content: when two answers are of different versions, and when all parts must come from a single answer.
import { createHash } from 'node:crypto'
import { type ContentVersion, dateOf, type Instant } from '../../../remote/remote.js'

/** The validators of a version in few letters, to be compared only. */
export interface VersionFingerprint {
  readonly tag: string | undefined
  readonly modified: string | undefined
  /** What its date says. */
  readonly date?: Instant | undefined
}

export interface Versions {
  /** False where nothing that both carry tells them apart, or a validator that counts says that they are one. */
  differ(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean
  /** True where a validator that both carry says that they are one. */
  same(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean
  /** What of it counts, to be sent as a condition. */
  counting(version: ContentVersion | undefined): ContentVersion | undefined
  /** Whether it carries a validator that counts. */
  tells(version: VersionFingerprint | undefined): boolean
  /** Whether the other one leaves out a tag that counts: of a part, that is no answer of the server that gave the first one. */
  leavesOutTag(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean
  /** Two answers of one moment: what differs between them says that the answers differ, but nothing says that they are one. */
  distrust(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): void
  /** The answers for this content change to and fro. */
  doubt(name: string): void
  /** Whether parts of several answers for this content, of which one is of this version, can be known to belong together. */
  mayJoin(name: string, version: VersionFingerprint | undefined): boolean
  /** A content had this version, and has another now. */
  leave(name: string, version: VersionFingerprint | undefined): void
  /** Whether a content had this very version before and has left it. */
  hadLeft(name: string, version: VersionFingerprint | undefined): boolean
}

const namesAtMost = 1000

/**
 * Takes equal tags, or else equal dates, for one version, until two answers of one moment have other ones. What counts no
 * more still keeps answers apart: two nodes that name one version differently cannot be told from two nodes of which one
 * holds an older version.
 */
export function openVersions(): Versions {
  let trustsTags = true
  let trustsDates = true
  const left = new Map<string, readonly VersionFingerprint[]>()
  const doubted = new Set<string>()

  function differ(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean {
    const tags = one?.tag !== undefined && other?.tag !== undefined
    const dates = one?.modified !== undefined && other?.modified !== undefined
    const otherTags = tags && one.tag !== other.tag
    const otherDates = dates && one.modified !== other.modified
    if (tags && trustsTags) return otherTags
    if (dates && trustsDates) return otherDates
    return otherTags || otherDates
  }

  function same(one: VersionFingerprint | undefined, other: VersionFingerprint | undefined): boolean {
    const byTag = trustsTags && one?.tag !== undefined && one.tag === other?.tag
    const byDate = trustsDates && one?.modified !== undefined && one.modified === other?.modified
    return (byTag || byDate) && !differ(one, other)
  }

  const tells = (version: VersionFingerprint | undefined): boolean =>
    (trustsTags && version?.tag !== undefined) || (trustsDates && version?.modified !== undefined)

  return {
    differ,
    same,
    counting(version) {
      const tag = trustsTags ? version?.tag : undefined
      const modified = trustsDates ? version?.modified : undefined
      return tag === undefined && modified === undefined ? undefined : { tag, modified }
    },
    tells,
    leavesOutTag: (one, other) => trustsTags && one?.tag !== undefined && other?.tag === undefined,
    distrust(one, other) {
      trustsTags &&= one?.tag === other?.tag
      trustsDates &&= one?.modified === other?.modified
    },
    doubt(name) {
      const [oldest] = doubted
      if (doubted.size >= namesAtMost && oldest !== undefined) doubted.delete(oldest)
      doubted.add(name)
    },
    mayJoin: (name, version) => !doubted.has(name) && ((trustsTags && trustsDates) || tells(version)),
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
