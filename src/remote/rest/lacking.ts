// The operations that one instance lacks: never answered, and refused for three existing things; until the next mount.
import type { ContentKindName } from '../../content-kinds.js'
import { Failure } from '../../failure.js'
import { RecentMap } from '../../recent-map.js'
import type { KnownQuestions } from '../known-question.js'
import type { Dispensable } from '../remote.js'

/** Discovered facts about a service; the owner may store them as JSON. */
export interface Capabilities extends KnownQuestions {
  /** How the size of such a content can be found without its bytes. */
  sizes: Partial<Record<ContentKindName, SizeSource>>
  /** Where no method is known yet: how many contents in a row, none empty, had neither, each properly refused. */
  untold?: Partial<Record<ContentKindName, number>>
  /** True if a download can start in the middle. */
  ranges?: boolean
  /** How many requests for a part in a row were answered with the whole. */
  unranged?: number
  /** True if a part may be requested on the condition that the version is unchanged. */
  conditions?: boolean
  /** GET endpoints that have answered here, over restarts: one of them is never taken for lacking. */
  works?: readonly string[]
  /** Those that were lacking in this mount or the ones before, and have not answered since. */
  lacked?: readonly string[]
  /** Under which of its two documented names the report types live. */
  reportTypes?: 'report/types' | 'report-type'
}
type SizeSource = 'head' | 'range'

/** One unusual answer is an accident: so many in a row are this service's behaviour… */
const often = 3
/** …but one request in so many is still sent: else a wrong conclusion would never be corrected. */
const sampledEvery = 64

/** True if so many unusual answers in a row count as this service's behaviour. */
export const isItsWay = (inARow: number): boolean => inARow >= often

/** True if the request after so many skipped or unusual ones is sent all the same. */
export const isSampled = (count: number): boolean => count % sampledEvery === 0

/** The operation behind each thing that the drive leaves out without it. */
export const operationOf = {
  user: 'user/info',
  'report-types': 'report-type',
  shares: 'project/share',
  'project-record': 'project',
  'calculation-record': 'calculation',
  xyz: 'calculation/xyz',
} as const satisfies Record<Dispensable, string>

/** For people: what the drive does without an operation. Each of these is not sent again once it is lacking. */
const consequences: Readonly<Record<string, string>> = {
  'user/info': 'the name of the sign-in is taken for the user',
  'navigation/path/resolve': 'no project is found by its path: give its number with --root',
  'report/types': 'the other path of that list is used',
  'report-type': 'types of reports are not known',
  'project/share': 'projects have no .shares',
  'calculation/xyz': 'calculations have no .xyz',
}

/** Names that a listing shows of its own accord: a name that leads nowhere ends a `cp -r` badly. */
const shownUnasked: ReadonlySet<string> = new Set([operationOf.shares, operationOf.xyz])

/** One missing geometry, list or share says nothing of the operation. */
const enough = 3
/** So many existing things are remembered. */
const thingsAtMost = 1000

/** Nothing is lacking at first; what has answered is kept in `capabilities`. */
export class Lacking {
  readonly #refusals = new Map<string, Set<string>>()
  readonly #lacking = new Set<string>()
  readonly #existing = new RecentMap<string, true>(thingsAtMost)

  constructor(private readonly capabilities: Capabilities) {}

  has(operation: string): boolean {
    return this.#lacking.has(operation)
  }

  /** True if it has to be asked before what it makes is listed: it was lacking before, or the instance is a poor one. */
  isDoubtful(operation: string): boolean {
    const { lacked = [], works } = this.capabilities
    if (lacked.length === 0 || !shownUnasked.has(operation) || this.#lacking.has(operation)) return false
    return (
      works?.includes(operation) !== true && lacked.some(one => one === operation || one === operationOf.user)
    )
  }

  /** The lacking operations and what follows, as far as they are known; for people. */
  list(): readonly string[] {
    return [...this.#lacking].map(operation => {
      const then = consequences[operation]
      return then === undefined ? `/${operation}` : `/${operation} (${then})`
    })
  }

  /** True if this failure may mean that the instance has no such operation: it has never answered here. */
  mayBe(operation: string, failure: unknown): failure is Failure {
    return (
      failure instanceof Failure &&
      /^(absent|unsupported)$/.test(failure.kind) &&
      this.capabilities.works?.includes(operation) !== true
    )
  }

  /** For one that is about no thing, once it was refused while another question was answered. */
  add(operation: string): void {
    this.#lacking.add(operation)
    const { lacked = [] } = this.capabilities
    if (!lacked.includes(operation)) this.capabilities.lacked = [...lacked, operation]
  }

  /** Why this question is not sent: the drive does without it. */
  refusal(path: string): Failure | undefined {
    if (this.#lacking.size === 0) return undefined
    const operation = endpointIn(path)
    if (!this.#lacking.has(operation) || consequences[operation] === undefined) return undefined
    return new Failure('unsupported', `this instance has no operation /${operation}`)
  }

  answered(path: string): void {
    const operation = endpointIn(path)
    const thing = thingIn(path)
    if (thing !== undefined) this.#existing.set(thing, true)
    const { works = [], lacked } = this.capabilities
    if (works.includes(operation)) return
    this.capabilities.works = [...works, operation]
    if (lacked !== undefined) this.capabilities.lacked = lacked.filter(one => one !== operation)
    this.#lacking.delete(operation)
  }

  refused(path: string, failure: unknown): void {
    const operation = endpointIn(path)
    if (this.has(operation) || !this.mayBe(operation, failure) || !path.includes('?')) return
    // Of what is called absent, nothing but another answer shows that it exists.
    if (failure.kind === 'absent' && !this.#existing.has(thingIn(path) ?? '')) return
    const refused = this.#refusals.get(operation) ?? new Set<string>()
    this.#refusals.set(operation, refused.add(path))
    if (refused.size >= enough) this.add(operation)
  }
}

const endpointIn = (path: string): string => path.slice(1).replace(/\?.*/s, '')

function thingIn(path: string): string | undefined {
  const [, kind, id] = /^\/(\w+)[^?]*\?(?:.*&)?id=(\d+)/.exec(path) ?? []
  return id === undefined ? undefined : `${kind} ${id}`
}
