// Catalog: the questions about projects, calculations, reports and users, each with its lifetime.
import { asFailure, Failure } from '../../failure.js'
import { all, chain, type MaybePromise, recover } from '../../maybe-promise.js'
import { foundOnce, madeOnce } from '../../recent-map.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { compactPrint } from '../../record/json/print.js'
import {
  type CalculationId,
  type Dispensable,
  type FileTitle,
  type Instant,
  instant,
  type Listed,
  type ListedCalculation,
  type ListedProject,
  type ProjectId,
  type Remote,
  type ReportId,
  type ReportType,
  type RequestContext,
  type ServicePath,
  type Share,
  type User,
  unlistedFiles,
} from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { Identities } from '../identity.js'
import type { LedgerValue } from '../ledger/table.js'
import { DerivedFiles } from './calculation-files.js'
import {
  type ChildrenForm,
  decodeChildren,
  decodeRecords,
  encodeChildren,
  encodeRecords,
  withFirstTimes,
} from './list-codec.js'
import { nameOf, type Query } from './query.js'
import type { QueryCache } from './query-cache.js'

export interface Children {
  readonly projects: readonly ListedProject[]
  readonly calculations: readonly ListedCalculation[]
}

export type Readable =
  | { readonly kind: 'project'; readonly id: ProjectId }
  | { readonly kind: 'calculation'; readonly id: CalculationId }
  | { readonly kind: 'report'; readonly id: ReportId }

export type ChildRef =
  | Exclude<Readable, { kind: 'report' }>
  | { readonly kind: 'share'; readonly id: Share['id'] }

/** One question at the cache, whose methods say what each of these does. */
const entryOf = <Answer>(cache: QueryCache, query: Query<Answer>) => ({
  ask: (context: RequestContext): MaybePromise<Answer> => cache.ask(query, context),
  known: (): Answer | undefined => cache.known(query),
  freshUntil: (): Instant => cache.freshUntil(query),
  learn: (answer: Answer): void => cache.learn(query, answer),
  /** The next question goes to the service; the old answer stays for outages. */
  refresh: (): void => cache.expire(query),
  forget: (): void => cache.forget(query),
  stale: (): Failure | undefined => cache.staleBecause(query),
})

export type Entry<Answer> = ReturnType<typeof entryOf<Answer>>

/** A user's own record and the report types hardly ever change. */
const seldom = 10 * 60_000

/** How records are understood, and what is noted of their identity. */
export interface CatalogSources {
  /** Milliseconds for which each kind of answer counts. */
  readonly lifetimes: { readonly listing: number; readonly record: number }
  readonly dialect: Dialect
  readonly identities: Identities
  readonly lacks: (of: Dispensable) => boolean
  /** It counts as lacking until it was asked and has answered. */
  readonly doubts: (of: Dispensable) => boolean
  /** The share of this id is given to another person than before. */
  readonly otherShare: (project: ProjectId, share: Share) => void
}

export function openCatalog(
  remote: Remote,
  queryCache: QueryCache,
  { lifetimes, dialect, identities, lacks, doubts, otherShare }: CatalogSources,
) {
  const userQuestion: Query<User> = {
    namespace: 'user',
    key: 'self',
    lifetime: seldom,
    fetch: context => remote.user(context),
    encode: user => JSON.stringify({ candidates: user.candidates, record: compactPrint(user.record) }),
    decode(text: string) {
      const { candidates, record } = JSON.parse(text) as { candidates: string[]; record: string }
      return { candidates, record: parseObject(record) }
    },
  }

  const resolve = <Id extends string>(
    kind: 'project' | 'calculation',
    path: ServicePath,
    fetch: (context: RequestContext) => Promise<Id>,
  ): Query<Id> => ({
    namespace: 'resolve',
    key: `${kind} ${path}`,
    lifetime: lifetimes.listing,
    fetch,
    encode: id => id,
    decode: (text: string) => text as Id,
  })

  const listing = <Item>(
    key: string,
    fetch: (context: RequestContext) => Promise<readonly Item[]>,
  ): Query<readonly Item[]> => ({
    namespace: 'listing',
    key,
    name: nameOf('listing', key),
    lifetime: lifetimes.listing,
    fetch,
    encode: JSON.stringify,
    decode: (text: string) => JSON.parse(text) as Item[],
    names: items => items.length + 1,
  })

  const childrenIn = <Item extends ListedProject | ListedCalculation>(
    form: ChildrenForm,
    fetch: (context: RequestContext) => Promise<readonly Item[]>,
  ): Query<readonly Item[]> => ({
    ...listing(`${form.kind}s ${form.parent}`, fetch),
    encode: encodeChildren,
    decode: (kept: LedgerValue) => decodeChildren(kept, form) as readonly Listed<string>[] as readonly Item[],
    settled: (fresh, before, now) => withFirstTimes(fresh, before, { now, parent: form.parent }),
  })

  // Each component of each path asks one of these questions.
  const projectsOf = madeOnce((parent: ProjectId) =>
    childrenIn({ kind: 'project', parent }, context => remote.subProjects(parent, context)),
  )
  const calculationsOf = madeOnce((parent: ProjectId) =>
    childrenIn({ kind: 'calculation', parent }, context => remote.calculations(parent, context)),
  )
  const filesOf: (of: CalculationId) => Query<readonly FileTitle[]> = madeOnce(of =>
    listing(`files ${of}`, async context => {
      const titles = await remote.fileTitles(of, context)
      const hadSome = (queryCache.known(filesOf(of)) ?? []).length > 0
      if (titles !== unlistedFiles || !hadSome) return titles
      // No refusal of the list alone empties it.
      const sentence = `the service tells no files of calculation ${of} any more, and had told some`
      throw new Failure('broken', sentence)
    }),
  )

  const derived = new DerivedFiles(remote, lacks, doubts)

  const recordOf = (of: Readable): Query<JsonObject> => ({
    namespace: 'record',
    key: `${of.kind} ${of.id}`,
    name: nameOf('record', `${of.kind} ${of.id}`),
    lifetime: lifetimes.record,
    // A program that goes through many reads each of them once: their last quarter would be asked for in vain.
    early: lifetimes.record / 10,
    fetch(context) {
      switch (of.kind) {
        case 'project':
          return remote.project(of.id, context)
        case 'calculation':
          return remote.calculation(of.id, context)
        case 'report':
          return remote.report(of.id, context)
      }
    },
    encode: compactPrint,
    decode(kept: LedgerValue) {
      const record = parseObject(kept)
      const { id = of.id } = dialect.facts(record)
      if (id !== of.id) throw new Error('the record of another thing')
      return record
    },
    taken: record => void identities.observe(of, dialect.facts(record), 'record'),
    learned: record => identities.accept(of, dialect.facts(record)),
  })

  const sharesOf = (of: ProjectId): Query<readonly Share[]> => ({
    namespace: 'shares',
    key: of,
    lifetime: lifetimes.listing,
    fetch: context => remote.shares(of, context),
    encode: encodeRecords,
    decode: decodeRecords<Share>,
    settled(shares, before) {
      const people = new Map(before?.map(({ id, user }) => [id, user]))
      for (const share of shares) {
        const person = people.get(share.id)
        if (person !== undefined && share.user !== undefined && person !== share.user) otherShare(of, share)
      }
      return before !== undefined && encodeRecords(before) === encodeRecords(shares) ? before : shares
    },
  })

  const typesQuestion: Query<readonly ReportType[]> = {
    namespace: 'report-types',
    key: 'all',
    lifetime: seldom,
    fetch: context => remote.reportTypes(context),
    encode: encodeRecords,
    decode: decodeRecords<ReportType>,
  }

  // One object per pair of listings, so that what is derived from it (the names) can be kept beside it.
  const pairs = foundOnce((projects: Children['projects']) => {
    for (const { id, parent } of projects) if (parent !== undefined) parents.set(id, parent)
    return foundOnce((calculations: Children['calculations']): Children => ({ projects, calculations }))
  })
  const parents = new Map<ProjectId, ProjectId>()

  const entry = <Answer>(query: Query<Answer>): Entry<Answer> => entryOf(queryCache, query)

  /** Both listings of a project are one answer. */
  const children = madeOnce((of: ProjectId): Omit<Entry<Children>, 'learn'> => {
    const projects = entry(projectsOf(of))
    const calculations = entry(calculationsOf(of))
    const both = (some?: Children['projects'], others?: Children['calculations']): Children | undefined =>
      some && others && pairs(some)(others)
    return {
      ask(context) {
        const asked = all([projects.ask(context), calculations.ask(context)])
        return chain(asked, ([some, others]) => pairs(some)(others))
      },
      known: () => both(projects.known(), calculations.known()),
      freshUntil: () => instant(Math.min(projects.freshUntil(), calculations.freshUntil())),
      refresh() {
        projects.refresh()
        calculations.refresh()
      },
      forget() {
        projects.forget()
        calculations.forget()
      },
      stale: () => calculations.stale() ?? projects.stale(),
    }
  })

  /** A learned record is on the disk at once: a kill does not bring yesterday's back. */
  const record = (of: Readable): Entry<JsonObject> => entry(recordOf(of))

  /** Changes a listing as this mount has changed the service: a mount that comes up in an outage shows it, too. */
  function amend<Item extends { readonly id: string }>(
    query: Query<readonly Item[]>,
    id: string,
    change: (item: Item) => Item | undefined,
  ): void {
    const known = queryCache.known(query)
    if (!known?.some(item => item.id === id)) return
    queryCache.learn(
      query,
      known.flatMap(item => (item.id === id ? (change(item) ?? []) : [item])),
    )
  }

  /** The next question about this directory, or its record, goes to the service. */
  function refreshProject(of: ProjectId): void {
    children(of).refresh()
    queryCache.expire(sharesOf(of))
    queryCache.expire(recordOf({ kind: 'project', id: of }))
  }

  return {
    user: (): Entry<User> => entry(userQuestion),
    project: (path: ServicePath): Entry<ProjectId> =>
      entry(resolve('project', path, context => remote.resolveProject(path, context))),
    calculation: (path: ServicePath): Entry<CalculationId> =>
      entry(resolve('calculation', path, context => remote.resolveCalculation(path, context))),
    children,
    record,
    shares: (of: ProjectId): Entry<readonly Share[]> => entry(sharesOf(of)),
    reportTypes: (): Entry<readonly ReportType[]> => entry(typesQuestion),
    files: madeOnce((of: CalculationId): Entry<readonly FileTitle[]> => entry(filesOf(of))),
    /** True if the instance is known to have no operation for it: it is left out. */
    lacks,
    /** Asks for the shares of a project where it is not known whether the instance can tell them; in an outage they stay left out. */
    askDoubtfulShares: (of: ProjectId, context: RequestContext): MaybePromise<unknown> =>
      doubts('shares') ? recover(queryCache.ask(sharesOf(of), context), asFailure) : undefined,
    /** The files that the service makes of the calculation's own ones. */
    derived,
    /** The project whose listing names this one, if that was ever seen. */
    parentOf: (project: ProjectId): ProjectId | undefined => parents.get(project),
    /** Grows with each answer that is another one now: what was made of them before may be another, too. */
    revision: (): number => queryCache.revision,
    /** A listing that was just read again. */
    learnSubProjects: (of: ProjectId, projects: readonly ListedProject[]): void =>
      queryCache.learn(projectsOf(of), projects),
    refreshProject,
    refreshCalculation(of: CalculationId): void {
      queryCache.expire(filesOf(of))
      queryCache.expire(recordOf({ kind: 'calculation', id: of }))
    },
    /** It was deleted: nothing of it is shown any more, not even while the service is away. */
    forget(of: Readable): void {
      record(of).forget()
      if (of.kind === 'project') {
        parents.delete(of.id)
        children(of.id).forget()
        entry(sharesOf(of.id)).forget()
      }
      if (of.kind === 'calculation') {
        entry(filesOf(of.id)).forget()
        derived.forget(of.id)
      }
    },
    /** It was deleted: the listings of its project are without it, and are asked for again. */
    forgetIn(parent: ProjectId, { kind, id }: ChildRef): void {
      const gone = (): undefined => undefined
      if (kind === 'project') amend(projectsOf(parent), id, gone)
      else if (kind === 'calculation') amend(calculationsOf(parent), id, gone)
      else amend(sharesOf(parent), id, gone)
      refreshProject(parent)
    },
    /** A project or calculation has this title now; its listing is asked for again. */
    retitleIn(parent: ProjectId, { kind, id }: Readable, title: string): void {
      if (kind === 'project') amend(projectsOf(parent), id, item => ({ ...item, title }))
      if (kind === 'calculation') {
        amend(calculationsOf(parent), id, item => ({ ...item, title }))
        // Its generated files are called like it.
        queryCache.expire(filesOf(id))
      }
      refreshProject(parent)
    },
  }
}

export type Catalog = ReturnType<typeof openCatalog>

/** The shown part of an answer, by its node's key: a directory's names and their times, or a record's text; undefined for any other answer. */
export function shownByQuery(namespace: string, key: string): string | undefined {
  if (namespace === 'record') return `record ${key}`
  if (namespace === 'shares') return `project ${key}`
  if (namespace !== 'listing') return undefined
  const [of = '', id] = key.split(' ')
  return `${/^(projects|calculations)$/.test(of) ? 'project' : 'calculation'} ${id}`
}
