// The questions the drive asks about projects, calculations, reports and users, each with its lifetime.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { compactForm, compactPrint } from '../../record/json/print.js'
import { quickObject } from '../../record/json/quick-json.js'
import { recordBytes } from '../../record/json/weight.js'
import type {
  Ask,
  CalculationId,
  Dialect,
  FileTitle,
  Listed,
  ListedCalculation,
  ListedProject,
  ProjectId,
  Remote,
  ReportId,
  ReportType,
  ServicePath,
  Share,
  User,
} from '../../remote/remote.js'
import type { Identities } from '../identity.js'
import type { Value } from '../ledger/table.js'
import { type ChildrenForm, decodeChildren, encodeChildren, withFirstTimes } from './children-codec.js'
import { geometryTold } from './geometry-told.js'
import type { Memory, Question } from './query-cache.js'
import { decodeRecords, encodeRecords } from './records-codec.js'

/** What a project holds, one level deep. */
export interface Children {
  readonly projects: readonly ListedProject[]
  readonly calculations: readonly ListedCalculation[]
}

/** A record that is read as a whole, by its kind and number. */
export type Readable =
  | { readonly kind: 'project'; readonly id: ProjectId }
  | { readonly kind: 'calculation'; readonly id: CalculationId }
  | { readonly kind: 'report'; readonly id: ReportId }

/** What a listing of a project names. */
export type Child =
  | Exclude<Readable, { kind: 'report' }>
  | { readonly kind: 'share'; readonly id: Share['id'] }

export interface Catalog {
  user(ask: Ask): Promise<User>
  /** Asks who the caller is whatever is known: the first question of a mount. Rejects where the service is away. */
  greet(ask: Ask): Promise<void>
  project(path: ServicePath, ask: Ask): Promise<ProjectId>
  calculation(path: ServicePath, ask: Ask): Promise<CalculationId>
  children(of: ProjectId, ask: Ask): Promise<Children>
  /** The same where it is fresh, as `freshFiles` and the others: an answer at once, undefined where `children` would ask. */
  freshChildren(of: ProjectId): Children | undefined
  knownChildren(of: ProjectId): Children | undefined
  record(of: Readable, ask: Ask): Promise<JsonObject>
  freshRecord(of: Readable): JsonObject | undefined
  knownRecord(of: Readable): JsonObject | undefined
  /** A record that a save has just read; it replaces what was known. */
  learnRecord(of: Readable, record: JsonObject): void
  shares(of: ProjectId, ask: Ask): Promise<readonly Share[]>
  knownShares(of: ProjectId): readonly Share[] | undefined
  knownUser(): User | undefined
  /** The project whose listing names this one, if that was ever seen. */
  parentOf(project: ProjectId): ProjectId | undefined
  /** A listing that was just read anew. */
  learnSubProjects(of: ProjectId, projects: readonly ListedProject[]): void
  reportTypes(ask: Ask): Promise<readonly ReportType[]>
  files(of: CalculationId, ask: Ask): Promise<readonly FileTitle[]>
  freshFiles(of: CalculationId): readonly FileTitle[] | undefined
  /** A file list that was just read anew. */
  learnFiles(of: CalculationId, titles: readonly FileTitle[]): void
  knownFiles(of: CalculationId): readonly FileTitle[] | undefined
  /** Whether the calculation has a CML file, from which the service makes the geometry. */
  hasGeometry(of: CalculationId, ask: Ask): Promise<boolean>
  freshGeometry(of: CalculationId): boolean | undefined
  /** The next question about this directory goes to the service. */
  refreshProject(of: ProjectId): void
  refreshCalculation(of: CalculationId): void
  refreshRecord(of: Readable): void
  refreshShares(of: ProjectId): void
  /** It was deleted: nothing of it is shown any more, not even while the service is away. */
  forget(of: Readable): void
  /** It was deleted: the listings of its project are without it, and are asked for again. */
  forgetIn(parent: ProjectId, of: Child): void
  /** What was told of a calculation's files: they may be those of another one. */
  forgetFiles(of: CalculationId): void
  /** The failure that keeps this listing old, while it does. */
  stale(room: 'listing' | 'record' | 'shares', key: string): Failure | undefined
}

/** Milliseconds each kind of answer counts. */
export interface Lifetimes {
  readonly listing: number
  readonly record: number
}

/** A user's own record and the report types hardly ever change. */
const seldom = 10 * 60_000

/** How records are understood, and what is told of who they are. */
export interface CatalogSources {
  readonly dialect: Dialect
  readonly identities: Identities
  /** The share of this id is given to another person than before. */
  readonly otherShare: (project: ProjectId, share: Share) => void
}

export function openCatalog(
  remote: Remote,
  memory: Memory,
  { dialect, identities, otherShare, ...lifetimes }: Lifetimes & CatalogSources,
): Catalog {
  const userQuestion: Question<User> = {
    room: 'user',
    key: 'self',
    lifetime: seldom,
    fetch: ask => remote.user(ask),
    encode: user => JSON.stringify({ candidates: user.candidates, record: compactPrint(user.record) }),
    decode(text: string) {
      const { candidates, record } = JSON.parse(text) as { candidates: string[]; record: string }
      return { candidates, record: quickObject(record) }
    },
  }

  const resolve = <Id extends string>(
    kind: 'project' | 'calculation',
    path: ServicePath,
    fetch: (ask: Ask) => Promise<Id>,
  ): Question<Id> => ({
    room: 'resolve',
    key: `${kind} ${path}`,
    lifetime: lifetimes.listing,
    fetch,
    encode: id => id,
    decode: (text: string) => text as Id,
  })

  const listing = <Item>(
    key: string,
    fetch: (ask: Ask) => Promise<readonly Item[]>,
  ): Question<readonly Item[]> => ({
    room: 'listing',
    key,
    lifetime: lifetimes.listing,
    fetch,
    encode: JSON.stringify,
    decode: (text: string) => JSON.parse(text) as Item[],
    names: items => items.length + 1,
  })

  const childrenIn = <Item extends ListedProject | ListedCalculation>(
    form: ChildrenForm,
    fetch: (ask: Ask) => Promise<readonly Item[]>,
  ): Question<readonly Item[]> => ({
    ...listing(`${form.kind}s ${form.parent}`, fetch),
    encode: encodeChildren,
    decode: (kept: Value) => decodeChildren(kept, form) as readonly Listed<string>[] as readonly Item[],
    settled: (fresh, before, now) => withFirstTimes(fresh, before, { now, parent: form.parent }),
  })

  const projectsOf = (parent: ProjectId) =>
    childrenIn({ kind: 'project', parent }, ask => remote.subProjects(parent, ask))
  const calculationsOf = (parent: ProjectId) =>
    childrenIn({ kind: 'calculation', parent }, ask => remote.calculations(parent, ask))
  const filesOf = (of: CalculationId) => listing(`files ${of}`, ask => remote.fileTitles(of, 'files', ask))

  const geometryOf = (of: CalculationId): Question<boolean> => ({
    room: 'listing',
    key: `cml ${of}`,
    lifetime: seldom,
    fetch: async ask => (await remote.fileTitles(of, 'cml', ask)).length > 0,
    encode: String,
    decode: (text: string) => text === 'true',
  })

  const recordOf = (of: Readable): Question<JsonObject> => ({
    room: 'record',
    key: `${of.kind} ${of.id}`,
    lifetime: lifetimes.record,
    fetch(ask) {
      switch (of.kind) {
        case 'project':
          return remote.project(of.id, ask)
        case 'calculation':
          return remote.calculation(of.id, ask)
        case 'report':
          return remote.report(of.id, ask)
      }
    },
    encode: compactForm,
    decode(kept: Value) {
      const record = quickObject(kept)
      const { id = of.id } = dialect.facts(record)
      if (id !== of.id) throw new Error('the record of another thing')
      return record
    },
    bytes: recordBytes,
    taken: record => void identities.meet(of, dialect.facts(record), 'record'),
  })

  const sharesOf = (of: ProjectId): Question<readonly Share[]> => ({
    room: 'shares',
    key: of,
    lifetime: lifetimes.listing,
    fetch: ask => remote.shares(of, ask),
    encode: encodeRecords,
    decode: decodeRecords<Share>,
    settled(shares, before = []) {
      const people = new Map(before.map(({ id, user }) => [id, user]))
      for (const share of shares) {
        const person = people.get(share.id)
        if (person !== undefined && share.user !== undefined && person !== share.user) otherShare(of, share)
      }
      return shares
    },
  })

  const typesQuestion: Question<readonly ReportType[]> = {
    room: 'report-types',
    key: 'all',
    lifetime: seldom,
    fetch: ask => remote.reportTypes(ask),
    encode: encodeRecords,
    decode: decodeRecords<ReportType>,
  }

  // One object per pair of listings, so that what is derived from it (the names) can be kept beside it.
  const pairs = new WeakMap<readonly ListedProject[], WeakMap<readonly ListedCalculation[], Children>>()
  const parents = new Map<ProjectId, ProjectId>()
  function pair(
    of: ProjectId,
    { projects, calculations }: Pick<Children, 'projects' | 'calculations'>,
  ): Children {
    const ofProjects = pairs.get(projects) ?? new WeakMap<Children['calculations'], Children>()
    pairs.set(projects, ofProjects)
    const known = ofProjects.get(calculations)
    if (known !== undefined) return known
    for (const { id } of projects) parents.set(id, of)
    const fresh = { projects, calculations }
    ofProjects.set(calculations, fresh)
    return fresh
  }

  async function children(of: ProjectId, ask: Ask): Promise<Children> {
    const [projects, calculations] = await Promise.all([
      memory.ask(projectsOf(of), ask),
      memory.ask(calculationsOf(of), ask),
    ])
    if (isOneAnswer({ projects, calculations })) throw oneAnswer(of)
    return pair(of, { projects, calculations })
  }

  /** Both listings as `look` finds them, without a request. */
  function childrenBy(look: Memory['known'], of: ProjectId): Children | undefined {
    const projects = look(projectsOf(of))
    const calculations = projects && look(calculationsOf(of))
    return projects && calculations && pair(of, { projects, calculations })
  }

  async function hasGeometry(of: CalculationId, ask: Ask): Promise<boolean> {
    return geometryTold(await memory.ask(filesOf(of), ask)) ?? memory.ask(geometryOf(of), ask)
  }

  function freshGeometry(of: CalculationId): boolean | undefined {
    const titles = memory.fresh(filesOf(of))
    return titles && (geometryTold(titles) ?? memory.fresh(geometryOf(of)))
  }

  /** Takes it out of a listing, which stays as old as it is. */
  function takeOut<Item extends { readonly id: string }>(
    question: Question<readonly Item[]>,
    id: string,
  ): void {
    const known = memory.known(question)
    if (known?.some(item => item.id === id))
      memory.learn(
        question,
        known.filter(item => item.id !== id),
      )
  }

  function forgetFiles(of: CalculationId): void {
    memory.forget('listing', `files ${of}`)
    memory.forget('listing', `cml ${of}`)
  }

  function refreshProject(of: ProjectId): void {
    memory.expire(projectsOf(of))
    memory.expire(calculationsOf(of))
    memory.expire(sharesOf(of))
    memory.expire(recordOf({ kind: 'project', id: of }))
  }

  return {
    user: ask => memory.ask(userQuestion, ask),
    greet: async ask => memory.learn(userQuestion, await remote.user(ask)),
    project: (path, ask) =>
      memory.ask(
        resolve('project', path, a => remote.resolveProject(path, a)),
        ask,
      ),
    calculation: (path, ask) =>
      memory.ask(
        resolve('calculation', path, a => remote.resolveCalculation(path, a)),
        ask,
      ),
    children,
    freshChildren(of) {
      const fresh = childrenBy(memory.fresh, of)
      return fresh === undefined || isOneAnswer(fresh) ? undefined : fresh
    },
    knownChildren: of => childrenBy(memory.known, of),
    record: (of, ask) => memory.ask(recordOf(of), ask),
    freshRecord: of => memory.fresh(recordOf(of)),
    knownRecord: of => memory.known(recordOf(of)),
    learnRecord(of, record) {
      identities.accept(of, dialect.facts(record))
      memory.learn(recordOf(of), record)
      memory.flush()
    },
    shares: (of, ask) => memory.ask(sharesOf(of), ask),
    knownShares: of => memory.known(sharesOf(of)),
    knownUser: () => memory.known(userQuestion),
    parentOf: project => parents.get(project),
    learnSubProjects: (of, projects) => memory.learn(projectsOf(of), projects),
    reportTypes: ask => memory.ask(typesQuestion, ask),
    files: (of, ask) => memory.ask(filesOf(of), ask),
    learnFiles: (of, titles) => memory.learn(filesOf(of), titles),
    knownFiles: of => memory.known(filesOf(of)),
    freshFiles: of => memory.fresh(filesOf(of)),
    hasGeometry,
    freshGeometry,
    refreshProject,
    refreshCalculation(of) {
      memory.expire(filesOf(of))
      memory.expire(recordOf({ kind: 'calculation', id: of }))
    },
    refreshRecord: of => memory.expire(recordOf(of)),
    refreshShares: of => memory.expire(sharesOf(of)),
    forget(of) {
      memory.forget('record', `${of.kind} ${of.id}`)
      if (of.kind === 'project') {
        memory.forget('listing', `projects ${of.id}`)
        memory.forget('listing', `calculations ${of.id}`)
        memory.forget('shares', of.id)
      }
      if (of.kind === 'calculation') forgetFiles(of.id)
    },
    forgetIn(parent, { kind, id }) {
      if (kind === 'share') {
        takeOut(sharesOf(parent), id)
        return memory.expire(sharesOf(parent))
      }
      if (kind === 'project') takeOut(projectsOf(parent), id)
      else takeOut(calculationsOf(parent), id)
      refreshProject(parent)
    },
    forgetFiles,
    stale: (room, key) => memory.staleBecause(room, key),
  }
}

/**
 * Whether one answer came to both questions, as of a cache that ignores the query: several children with the same ids
 * and names in one order. Usually the first ones differ already.
 */
function isOneAnswer({ projects, calculations }: Children): boolean {
  return (
    projects.length > 1 &&
    projects.length === calculations.length &&
    projects.every(({ id, title }, at) => {
      const other: Listed<string> | undefined = calculations[at]
      return other?.id === id && other.title === title
    })
  )
}

const oneAnswer = (of: ProjectId): Failure =>
  new Failure(
    'broken',
    `the service gave one answer to the questions for the projects and for the calculations in project ${of}: does a cache stand in front of it that ignores the question?`,
  )
