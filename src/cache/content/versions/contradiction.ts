// Contradiction of two answers about one content: another version, or two lengths of which neither counts.
import { Failure } from '../../../failure.js'
import type { ContentFacts, ContentVersion } from '../../../remote/remote.js'
import type { ContentSizes } from './sizes.js'
import { fingerprintOf, type VersionFingerprint, type Versions } from './versions.js'

/** A length that was told, or came with a part, and another that is sent; undefined: more than that. */
export class OtherLength extends Error {
  override readonly message: string

  constructor(
    readonly told: number,
    readonly sent: number | undefined,
  ) {
    super()
    this.message = `the service said ${told} bytes and sends ${sent ?? 'more'}`
  }
}

/** Two parts, or what was kept and what comes, are of two versions. */
export class OtherVersion extends Error {
  override readonly message = 'the service sends another version of the file'

  constructor(
    readonly before: VersionFingerprint | undefined,
    readonly now: ContentVersion | undefined,
  ) {
    super()
  }
}

export type Contradiction = OtherLength | OtherVersion

export const isContradiction = (thrown: unknown): thrown is Contradiction =>
  thrown instanceof OtherLength || thrown instanceof OtherVersion

export interface ContradictionPorts {
  readonly name: string
  readonly sizes: ContentSizes
  readonly versions: Versions
  /** Asks the service now. */
  readonly facts: () => Promise<ContentFacts>
  /** The service holds another version than before. */
  readonly replaced: () => void
}

/**
 * What readers hear of it.
 * @throws Failure of the questions themselves: then nothing was found out, and what was told stays
 */
export async function resolveContradiction(
  found: Contradiction,
  ports: ContradictionPorts,
): Promise<Failure> {
  return found instanceof OtherVersion ? resolveVersion(found, ports) : resolveLength(found, ports)
}

/**
 * A reader of a part begins again. Where the version changes between two questions, or comes back, the next readers get
 * the bytes of a single answer: it may be one content under two names, or two of which one is older.
 */
async function resolveVersion(found: OtherVersion, ports: ContradictionPorts): Promise<Failure> {
  const { name, versions } = ports
  const first = await ports.facts()
  const second = await ports.facts()
  const [one, other] = [fingerprintOf(first.version), fingerprintOf(second.version)]
  if (versions.differ(one, other)) versions.distrust(one, other)
  const now = fingerprintOf(found.now)
  if (!versions.tells(now) && versions.same(found.before, other))
    return new Failure(
      'broken',
      'the service sends bytes without saying of which version, where a part of a known one was asked for',
    )
  if (versions.same(found.before, other) || versions.hadLeft(name, now)) versions.doubt(name)
  return acceptReplacement(second, ports, found.before)
}

/**
 * A length counts where the body and every other source that speaks say the same now: what was told before was of another
 * version. As long as one of them says something else, or none of them speaks, what was told stays and nothing is believed.
 */
async function resolveLength(found: OtherLength, ports: ContradictionPorts): Promise<Failure> {
  const facts = await ports.facts()
  const said = [facts.head, facts.range].filter(bytes => bytes !== undefined)
  const [one] = said
  const agree = one !== undefined && said.every(bytes => bytes === one)
  const isNew = found.sent === undefined ? one !== found.told && (one ?? 0) > found.told : one === found.sent
  if (agree && isNew) return acceptReplacement(facts, ports, ports.sizes.version(ports.name))
  const sentence = disputeOf(found, facts)
  ports.sizes.dispute(ports.name, sentence)
  return new Failure('broken', sentence)
}

function acceptReplacement(
  facts: ContentFacts,
  ports: ContradictionPorts,
  before: VersionFingerprint | undefined,
): Failure {
  const { name, sizes, versions } = ports
  versions.leave(name, before)
  sizes.forget(name)
  const bytes = facts.head ?? facts.range
  const now = fingerprintOf(facts.version)
  // Of what changes to and fro the next answer may be another one, and its reader has not read anything yet.
  const version = versions.mayJoin(name, now) ? now : undefined
  if (bytes !== undefined) sizes.remember(name, bytes, { version, modified: now?.date })
  ports.replaced()
  return replacedFailure()
}

/** A reader that has a part of the old version, or knows its length, must begin again. */
export const replacedFailure = (): Failure =>
  new Failure('replaced', 'the service holds another version of the file now: open it again to read that one')

function disputeOf({ told, sent }: OtherLength, { head, range }: ContentFacts): string {
  const sources = [
    ...(head === undefined ? [] : [`HEAD says ${head}`]),
    ...(range === undefined ? [] : [`a Range answer says ${range}`]),
  ]
  const now = sources.length === 0 ? '' : `; asked again, ${sources.join(' and ')}`
  return (
    `the service told ${told} bytes and sends ${sent ?? `more than ${told}`}${now}. ` +
    'Neither is believed and nothing is kept until they agree; `calcfs refresh` asks all of it again'
  )
}
