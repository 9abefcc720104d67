// Versions of contents: the one table of lengths, validators and times, and what an answer that contradicts it means.
import { createHash } from 'node:crypto'
import { Failure } from '../../../failure.js'
import { RecentMap } from '../../../recent-map.js'
import {
  type ByteCount,
  byteCount,
  type ContentVersion,
  dateOf,
  type Instant,
  instant,
} from '../../../remote/remote.js'
import type { Ledger } from '../../ledger/ledger.js'

/** The validators of a version in few letters, to be compared only. */
export interface VersionFingerprint {
  readonly tag: string | undefined
  readonly modified: string | undefined
  readonly date?: Instant | undefined
}

export class Contradiction extends Error {
  /** The failure for its readers: the same for all. */
  heard: Failure | undefined
}

/** Another length than was told, or than came before; `sent` undefined: more than that. */
export class OtherLength extends Contradiction {
  constructor(told: number, sent: number | undefined) {
    super(`the service told ${told} bytes and sends ${sent ?? `more than ${told}`}`)
  }
}

export class OtherVersion extends Contradiction {
  /** `isOneLength`: nothing but its validator differs. */
  constructor(readonly isOneLength: boolean) {
    super('the service sends another version of the file than before')
  }
}

export interface VersionPorts {
  readonly now: () => Instant
  /** A length or a time is another one now. */
  readonly changed: () => void
  /** Another mount that shares the ledger has found this content replaced: what is open here is of the old version. */
  readonly elsewhere: (name: string) => void
  readonly replaced: (name: string) => void
}

const sizeRoom = 'size'
const replacedRoom = 'replaced'
/** Bytes; the date, in milliseconds; the fingerprints of tag and date where a version is known. */
const form = /^(0|[1-9][0-9]{0,15})(?: @([0-9]{1,15}))?(?: (\S+) (\S+))?$/
const noValidator = '-'
const nothingKnown = 'nothing'
const noValidators: VersionFingerprint = { tag: undefined, modified: undefined }

const soonMs = 60_000
const namesAtMost = 1000

interface Known {
  readonly bytes: ByteCount
  readonly modified: Instant | undefined
  readonly version: VersionFingerprint | undefined
}

/** Those asked for a moment ago; more are read from the ledger again. */
const knownAtMost = 8_192

/** Of all contents of a mount, by their names; lengths, validators and times are remembered over restarts. */
export class ContentVersions {
  private readonly known = new RecentMap<string, Known | typeof nothingKnown>(knownAtMost)
  private readonly replaced = new Map<string, Instant>()
  /** The ledger's revision that both were read at. */
  private revision: number
  private readonly contradicted = new RecentMap<string, { at: Instant; heard: Failure }>(namesAtMost)
  private readonly firstMet = new RecentMap<string, Instant>(namesAtMost)
  private readonly unsteady = new RecentMap<string, true>(namesAtMost)

  constructor(
    private readonly ledger: Ledger,
    private readonly ports: VersionPorts,
  ) {
    this.revision = ledger.revision()
    for (const [name, at] of this.replacedRows()) this.replaced.set(name, at)
  }

  /** As the service stated it, or as counted; undefined if it is not known yet. */
  length(name: string): ByteCount | undefined {
    return this.of(name)?.bytes
  }

  /** The version whose bytes readers had last, perhaps without a validator; undefined where they had none. */
  version(name: string): VersionFingerprint | undefined {
    return this.of(name)?.version
  }

  /** The date that the service had told when its length became known: it stays. */
  modified(name: string): Instant | undefined {
    return this.of(name)?.modified
  }

  /** Without a version the one that is known stays. The date counts with the first length only. */
  remember(
    name: string,
    bytes: number,
    told: { readonly version?: VersionFingerprint | undefined; readonly modified?: Instant | undefined } = {},
  ): void {
    const before = this.of(name)
    const version = told.version ?? before?.version
    const date = before === undefined ? told.modified : before.modified
    const modified = date === undefined ? undefined : instant(Math.min(date, this.ports.now()))
    const known = { bytes: byteCount(bytes), modified, version }
    const row = rowOf(known)
    if (before !== undefined && rowOf(before) === row) return
    this.known.set(name, known)
    if (before === undefined && version === undefined) this.ledger.setFirst(sizeRoom, name, row)
    else this.ledger.set(sizeRoom, name, row)
    if (before !== undefined && before.bytes !== bytes) this.ports.changed()
  }

  /** All but the time of its replacement: the next question goes to the service. */
  forget(name: string): void {
    this.known.set(name, nothingKnown)
    this.ledger.delete(sizeRoom, name)
  }

  /** Readers get bytes of this version: what comes later is compared with it. */
  met(name: string, version: VersionFingerprint | undefined): void {
    if (this.firstMet.get(name) === undefined) this.firstMet.set(name, this.ports.now())
    const known = this.of(name)
    if (known !== undefined)
      this.remember(name, known.bytes, { version: version ?? known.version ?? noValidators })
  }

  /** True if parts of several answers may be put together: not where its validator changed within a minute at one length. */
  mayJoin(name: string): boolean {
    return this.unsteady.get(name) === undefined
  }

  /** Its answers contradicted each other a moment ago: a body alone does not tell its length. */
  isDoubted(name: string): boolean {
    return this.isSoon(this.contradicted.get(name)?.at)
  }

  /** The failure for its readers: 'replaced', or 'broken' where the last contradiction was less than a minute ago. */
  contradict(name: string, found: Contradiction): Failure {
    if (found.heard !== undefined) return found.heard
    const heard = this.isDoubted(name)
      ? new Failure('broken', `${found.message}; neither is believed, and nothing of it is kept`)
      : replacedFailure()
    found.heard = heard
    this.contradicted.set(name, { at: this.ports.now(), heard })
    if (found instanceof OtherVersion && found.isOneLength && this.isSoon(this.firstMet.get(name)))
      this.unsteady.set(name, true)
    this.firstMet.delete(name)
    this.forget(name)
    // Reads from now on may be of another version: no open file and no page of the kernel goes on with it.
    this.noteReplaced(name)
    this.ports.replaced(name)
    return heard
  }

  /** @throws Failure where it was found to be another version than the one that `replacedAt` told */
  check(name: string, replacedAt: Instant | undefined): void {
    if (this.replacedAt(name) === replacedAt) return
    throw this.isDoubted(name) ? this.contradicted.get(name)?.heard : replacedFailure()
  }

  /** When it was last found to be another version than the one before; undefined for nearly all. */
  replacedAt(name: string): Instant | undefined {
    if (this.ledger.revision() !== this.revision) this.follow()
    return this.replaced.get(name)
  }

  /** Its readers begin again, and its time moves; remembered over restarts, for a time that was shown stays. */
  noteReplaced(name: string): void {
    const before = this.replacedAt(name)
    const { now, changed } = this.ports
    const time = instant(before === undefined ? now() : Math.max(now(), before + 1))
    this.replaced.set(name, time)
    this.ledger.set(replacedRoom, name, String(time))
    changed()
  }

  private of(name: string): Known | undefined {
    if (this.ledger.revision() !== this.revision) this.follow()
    const held = this.known.get(name)
    if (held !== undefined) return held === nothingKnown ? undefined : held
    const found = knownIn(this.ledger.get(sizeRoom, name))
    this.known.set(name, found ?? nothingKnown)
    return found
  }

  /** Another process has written: what it found replaced is of an old version here. */
  private follow(): void {
    this.revision = this.ledger.revision()
    this.known.clear()
    for (const [name, at] of this.replacedRows()) {
      if (this.replaced.get(name) === at) continue
      this.replaced.set(name, at)
      this.ports.elsewhere(name)
      this.ports.changed()
    }
  }

  private *replacedRows(): Generator<readonly [string, Instant]> {
    for (const [name, { value }] of this.ledger.entries(replacedRoom))
      if (!Number.isNaN(Number(value))) yield [name, instant(Number(value))]
  }

  private isSoon(before: Instant | undefined): boolean {
    return before !== undefined && this.ports.now() - before < soonMs
  }
}

/** True if an answer is of another version than one before: its tag counts, else its date; one that names neither any more is. */
export function isOther(
  before: VersionFingerprint | undefined,
  now: VersionFingerprint | undefined,
): boolean {
  if (before?.tag !== undefined) return before.tag !== now?.tag
  return before?.modified !== undefined && before.modified !== now?.modified
}

/** True if it carries a validator. */
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

/** A reader that has a part of the old version, or knows its length, must begin again. */
const replacedFailure = (): Failure =>
  new Failure('replaced', 'the service holds another version of the file now: open it again to read that one')

const validatorHash = (validator: string | undefined): string | undefined =>
  validator === undefined
    ? undefined
    : createHash('sha256').update(validator).digest('base64url').slice(0, 11)

function rowOf({ bytes, modified, version }: Known): string {
  const dated = modified === undefined ? '' : ` @${modified}`
  const validators =
    version === undefined ? '' : ` ${version.tag ?? noValidator} ${version.modified ?? noValidator}`
  return `${bytes}${dated}${validators}`
}

function knownIn(row: string | undefined): Known | undefined {
  const [, bytes, date, tag, modified] = form.exec(row ?? '') ?? []
  if (bytes === undefined) return undefined
  return {
    bytes: byteCount(Number(bytes)),
    modified: date === undefined ? undefined : instant(Number(date)),
    version:
      tag === undefined || modified === undefined
        ? undefined
        : { tag: storedValidator(tag), modified: storedValidator(modified) },
  }
}

const storedValidator = (kept: string): string | undefined => (kept === noValidator ? undefined : kept)
