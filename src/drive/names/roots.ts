// Roots: the top of `projects/`, which is the user's own space where it has an id, else the given roots and what was found by its path.
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, type Failure, isA, isAbsent, unlessAbsent, unlessDenied } from '../../failure.js'
import { lastNameOf } from '../../layout.js'
import { recover } from '../../maybe-promise.js'
import { idForm, type ProjectId, type RequestContext, type ServicePath } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import { isSameName } from '../../spelling.js'

/** A project known by where it stands: its id and the name in its path. */
export interface FoundProject {
  readonly id: ProjectId
  readonly title: string
  /** It was found there, and is looked up there again; a given root has been by then. */
  readonly path?: ServicePath
  /** Why it cannot be told whether it is still there. */
  readonly doubt?: Failure
}

/** `one`: `projects/` is a project itself. `several`: it is a list, and other names are looked up by path. */
export type TopLevel = { readonly form: 'one'; readonly id: ProjectId; readonly user: string } | SeveralTop

export interface SeveralTop {
  readonly form: 'several'
  readonly entries: readonly FoundProject[]
  readonly users: readonly string[]
  /** Why something is not among the entries of which no name is known: they are no whole list then. */
  readonly missing?: Failure | undefined
  readonly troubles?: readonly string[]
}

export interface RootParts {
  readonly catalog: Pick<Catalog, 'user' | 'project' | 'record' | 'children'>
  readonly dialect: Pick<Dialect, 'facts'>
  readonly ledger: Ledger
  /** Facts that no operation of the service brings back: the spaces and given roots that were there. */
  readonly state: Ledger
  /** The user's `--root`s: paths or ids. */
  readonly given: readonly string[]
}

/** A given root as it is now: a space that has an id, entries, and what is to be said of it. */
interface GivenRoot {
  readonly space?: { readonly id: ProjectId; readonly user: string }
  readonly entries: readonly FoundProject[]
  readonly missing?: Failure
  readonly trouble?: string
}

/** Where the ids of projects that were found by their paths are kept, of spaces, of given roots, and the titles of roots by id. */
const [foundRoom, spaceRoom, rootRoom, titleRoom] = ['found', 'space', 'root', 'root title'] as const

export class Roots {
  #last: TopLevel | undefined

  constructor(private readonly parts: RootParts) {}

  async top(context: RequestContext): Promise<TopLevel> {
    this.#last = await (this.parts.given.length > 0 ? this.#givenRoots(context) : this.#ownRoot(context))
    return this.#last
  }

  known(): TopLevel | undefined {
    return this.#last
  }

  /** The project at `/db/<user>/<title>`, remembered once found. */
  async find(user: string, title: string, context: RequestContext): Promise<FoundProject | undefined> {
    const { ledger } = this.parts
    const path = pathOf(user, title)
    const id = await this.#projectAt(path, [ledger, foundRoom], context)
    if (id === undefined) ledger.delete(foundRoom, path)
    return id && { id, title, path }
  }

  /** The project that stands now where this one was found; undefined where there is none any more. */
  async present(
    { id, title, path, doubt }: FoundProject,
    context: RequestContext,
  ): Promise<ProjectId | undefined> {
    if (doubt !== undefined) throw doubt
    const user = path === undefined ? undefined : spaceOf(path)
    return user === undefined ? id : (await this.find(user, title, context))?.id
  }

  /** The id of `/db/<user>`, where the service gives it one, or gave it one before. */
  async userRoot(user: string, context: RequestContext): Promise<ProjectId | undefined> {
    return (await this.#space([user], context))?.id
  }

  foundBelow(user: string): readonly FoundProject[] {
    const prefix = pathOf(user, '')
    return [...this.parts.ledger.entries(foundRoom)]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, { value }]) => ({
        id: value as ProjectId,
        title: path.slice(prefix.length),
        path: path as ServicePath,
      }))
  }

  /** Names that `db/` lists: the caller's own and those under which something was found. */
  async users(context: RequestContext): Promise<readonly string[]> {
    const own = await this.top(context)
    const names = own.form === 'one' ? [own.user] : own.users
    const others = [...this.parts.ledger.entries(foundRoom).keys()].map(spaceOf)
    return [...new Set([...names, ...others])].filter(name => name !== undefined)
  }

  /** The platform's path of a place below `projects/`, given the titles on the way; from memory. */
  servicePath(titles: readonly string[]): ServicePath | undefined {
    if (this.#last?.form === 'one') return pathOf(this.#last.user, ...titles)
    const [first, ...rest] = titles
    const path = [...this.parts.ledger.entries(foundRoom).keys()].find(known => known.endsWith(`/${first}`))
    return path === undefined ? undefined : ([path, ...rest].join('/') as ServicePath)
  }

  /** Given roots of which the service has never told, and says now that there is no such project. Rejects for no outage. */
  async neverThere(context: RequestContext): Promise<readonly string[]> {
    const { given } = this.parts
    const answers = await Promise.all(given.map(root => this.#isNeverThere(root, context)))
    return given.filter((_, at) => answers[at])
  }

  explain(shown: TopLevel): string {
    if (shown.form === 'one') return `projects/ shows /db/${shown.user} (project ${shown.id})`
    const told = (shown.troubles ?? []).map(trouble => `; ${trouble}`).join('')
    // The id of the user's space was not asked for then.
    if (shown.users.length === 0 && this.parts.given.length > 0)
      return `projects/ shows what was given with --root${told}`
    const user = shown.users[0]
    const hint =
      user === undefined
        ? ''
        : `; type a name to find it by path: cd projects/NAME looks up /db/${user}/NAME, or give the number of a project with --root`
    return `the service gives the user's space no id, so projects/ shows what was given with --root or found before${hint}${told}`
  }

  async #ownRoot(context: RequestContext): Promise<TopLevel> {
    const { candidates } = await this.parts.catalog.user().ask(context)
    const space = await this.#space(candidates, context)
    if (space !== undefined) return { form: 'one', ...space }
    const entries = candidates.flatMap(user => this.foundBelow(user))
    return { form: 'several', entries, users: candidates }
  }

  /** The first of these users' spaces that has an id, or had one. While the service is away, what was known counts. */
  async #space(
    users: readonly string[],
    context: RequestContext,
  ): Promise<{ readonly id: ProjectId; readonly user: string } | undefined> {
    const { state } = this.parts
    const had = (user: string) => state.get(spaceRoom, pathOf(user)) as ProjectId | undefined
    try {
      for (const user of users) {
        const now = await this.#resolved(pathOf(user), context)
        if (now !== undefined && now !== had(user)) state.set(spaceRoom, pathOf(user), now)
        // Its own list tells whether it is there: an empty `projects/` would empty a backup.
        const id = now ?? had(user)
        if (id !== undefined) return { id, user }
      }
      return undefined
    } catch (thrown) {
      if (!isA('outage', asFailure(thrown))) throw thrown
      for (const user of users) {
        const id = had(user)
        if (id !== undefined) return { id, user }
      }
      if (users.every(user => this.foundBelow(user).length === 0)) throw thrown
      return undefined
    }
  }

  async #givenRoots(context: RequestContext): Promise<TopLevel> {
    const all = await Promise.all(this.parts.given.map(root => this.#givenRoot(root, context)))
    const [only] = all
    if (all.length === 1 && only?.space !== undefined) return { form: 'one', ...only.space }
    const troubles = all.flatMap(({ trouble, missing }) => trouble ?? missing?.message ?? [])
    const missing = all.find(root => root.missing !== undefined)?.missing
    return { form: 'several', entries: all.flatMap(({ entries }) => entries), users: [], missing, troubles }
  }

  /** One root that cannot be told keeps no other from being shown. */
  async #givenRoot(root: string, context: RequestContext): Promise<GivenRoot> {
    const user = spaceForm.exec(root)?.[1]
    if (user === undefined) return this.#entryRoot(root, context)
    try {
      const id = await this.userRoot(user, context)
      if (id === undefined) return { entries: this.foundBelow(user) }
      if (this.parts.given.length === 1) return { space: { id, user }, entries: [] }
      const { projects } = await this.parts.catalog.children(id).ask(context)
      return { entries: projects.map(({ id, title }) => ({ id, title })) }
    } catch (thrown) {
      return { missing: asFailure(thrown), entries: [] }
    }
  }

  /** Its name is known from its path, or was told once: it stays listed while it is not told whether it is there. */
  async #entryRoot(root: string, context: RequestContext): Promise<GivenRoot> {
    const { id, title } = this.#told(root)
    try {
      const entry = await (idForm.test(root)
        ? this.#rootById(root as ProjectId, context)
        : this.#rootByPath(asPath(root), context))
      return entry === undefined
        ? { entries: [], trouble: `--root ${root}: the service knows no project at this path` }
        : { entries: [entry] }
    } catch (thrown) {
      const doubt = asFailure(thrown)
      const trouble = `--root ${root}: ${doubt.message}`
      if (id === undefined || title === undefined) return { missing: doubt, trouble, entries: [] }
      return { entries: [{ id, title, doubt }], trouble }
    }
  }

  #told(root: string): { readonly id: ProjectId | undefined; readonly title: string | undefined } {
    const { state } = this.parts
    if (idForm.test(root)) return { id: root as ProjectId, title: state.get(titleRoom, root) }
    const path = asPath(root)
    return { id: state.get(rootRoom, path) as ProjectId | undefined, title: lastNameOf(path) }
  }

  async #rootByPath(path: ServicePath, context: RequestContext): Promise<FoundProject | undefined> {
    const id = await this.#projectAt(path, [this.parts.state, rootRoom], context)
    return id && { id, title: lastNameOf(path) }
  }

  async #rootById(id: ProjectId, context: RequestContext): Promise<FoundProject | undefined> {
    const { state } = this.parts
    const title = await this.#titleTold(id, context).catch(unlessAbsent)
    if (title === undefined) return undefined
    if (state.get(titleRoom, id) !== title) state.set(titleRoom, id, title)
    return { id, title }
  }

  /** Where the service does not tell the record, its number: what it lists there shows that it is there. */
  async #titleTold(id: ProjectId, context: RequestContext): Promise<string> {
    const { catalog, dialect } = this.parts
    try {
      return dialect.facts(await catalog.record({ kind: 'project', id }).ask(context)).title ?? id
    } catch (thrown) {
      if (!isA('denial', asFailure(thrown))) throw thrown
      const listed = await recover(catalog.children(id).ask(context), unlessDenied)
      if (listed === undefined || listed.projects.length + listed.calculations.length === 0) throw thrown
      return id
    }
  }

  /** The project at a path, which is noted; the one that was there where the service resolves no path, and tells that one's record, or an outage hides it. */
  async #projectAt(
    path: ServicePath,
    [notes, room]: readonly [Ledger, string],
    context: RequestContext,
  ): Promise<ProjectId | undefined> {
    const before = notes.get(room, path) as ProjectId | undefined
    const id = await this.#resolved(path, context)
    if (id !== undefined && id !== before) notes.set(room, path, id)
    if (id !== undefined || before === undefined) return id
    const { catalog, dialect } = this.parts
    try {
      const record = await catalog.record({ kind: 'project', id: before }).ask(context)
      return isSameName(dialect.facts(record).title, lastNameOf(path)) ? before : undefined
    } catch (thrown) {
      return isA('outage', asFailure(thrown)) ? before : unlessDenied(thrown)
    }
  }

  /** No documented answer says "there is no such path", and each refusal may mean it. */
  async #resolved(path: ServicePath, context: RequestContext): Promise<ProjectId | undefined> {
    return recover(this.parts.catalog.project(path).ask(context), unlessDenied)
  }

  async #isNeverThere(root: string, context: RequestContext): Promise<boolean> {
    const { catalog } = this.parts
    // A space may have no id, and projects below it.
    if (spaceForm.test(root)) return false
    const isById = idForm.test(root)
    const { id, title } = this.#told(root)
    if ((isById ? title : id) !== undefined) return false
    try {
      if (isById) await this.#titleTold(root as ProjectId, context)
      else await catalog.project(asPath(root)).ask(context)
      return false
    } catch (thrown) {
      return isAbsent(thrown)
    }
  }
}

const spaceForm = /^\/?db\/([^/]+)\/?$/

const spaceOf = (path: string): string | undefined => /^\/db\/([^/]+)\//.exec(path)?.[1]

const pathOf = (...parts: readonly string[]): ServicePath => `/db/${parts.join('/')}` as ServicePath

const asPath = (root: string): ServicePath => `/${root.replace(/^\/+|\/+$/g, '')}` as ServicePath
