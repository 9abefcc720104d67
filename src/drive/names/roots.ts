// What stands at the top of `projects/`: the user's own root where it has an id, else the given roots and what was found.
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { Failure } from '../../failure.js'
import {
  type Dialect,
  idForm,
  type ProjectId,
  type RequestContext,
  type ServicePath,
} from '../../remote/remote.js'

/** A project known by where it stands: its id and the name in its path. */
export interface FoundProject {
  readonly id: ProjectId
  readonly title: string
}

/** `one`: `projects/` is a project itself. `several`: it is a list, and other names are looked up by path. */
export type TopLevel =
  | { readonly form: 'one'; readonly id: ProjectId; readonly user: string }
  | { readonly form: 'several'; readonly entries: readonly FoundProject[]; readonly users: readonly string[] }

export interface Roots {
  top(context: RequestContext): Promise<TopLevel>
  /** What stood there when somebody asked last. */
  known(): TopLevel | undefined
  /** The project at `/db/<user>/<title>`, remembered once found. */
  find(user: string, title: string, context: RequestContext): Promise<FoundProject | undefined>
  /** The project that stands now where this one was found; undefined where there is none any more. */
  present(found: ProjectId, context: RequestContext): Promise<ProjectId | undefined>
  /** The id of `/db/<user>`, where the service gives it one. */
  userRoot(user: string, context: RequestContext): Promise<ProjectId | undefined>
  /** Projects found earlier below `/db/<user>`. */
  foundBelow(user: string): readonly FoundProject[]
  /** Names that `db/` lists: the caller's own and those under which something was found. */
  users(context: RequestContext): Promise<readonly string[]>
  /** The platform's path of a place below `projects/`, given the titles on the way; from memory. */
  servicePath(titles: readonly string[]): ServicePath | undefined
  /** What to say about the top, for people. */
  explain(top: TopLevel): string
}

const foundRoom = 'found'

/** `given` are the user's `--root`s: paths or ids. */
export function openRoots(
  catalog: Catalog,
  ledger: Ledger,
  dialect: Dialect,
  given: readonly string[],
): Roots {
  const pathOf = (...parts: string[]): ServicePath => `/db/${parts.join('/')}` as ServicePath

  async function resolve(path: ServicePath, context: RequestContext): Promise<ProjectId | undefined> {
    try {
      return await catalog.project(path, context)
    } catch (thrown) {
      if (thrown instanceof Failure && saysNoSuchPath.has(thrown.kind)) return undefined
      throw thrown
    }
  }

  async function find(
    user: string,
    title: string,
    context: RequestContext,
  ): Promise<FoundProject | undefined> {
    const path = pathOf(user, title)
    const id = await resolve(path, context)
    if (id === undefined) {
      ledger.delete(foundRoom, path)
      return undefined
    }
    ledger.set(foundRoom, path, id)
    return { id, title }
  }

  /** A service made anew may have another project on that path, and another path for that id. */
  async function present(found: ProjectId, context: RequestContext): Promise<ProjectId | undefined> {
    const path = [...ledger.entries(foundRoom)].find(([, kept]) => kept.value === found)?.[0]
    if (path === undefined) return found
    const id = await resolve(path as ServicePath, context)
    if (id === undefined) ledger.delete(foundRoom, path)
    else if (id !== found) ledger.set(foundRoom, path, id)
    return id
  }

  function foundBelow(user: string): FoundProject[] {
    const prefix = pathOf(user, '')
    return [...ledger.entries(foundRoom)]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, kept]) => ({ id: kept.value as ProjectId, title: path.slice(prefix.length) }))
  }

  async function givenRoots(context: RequestContext): Promise<TopLevel> {
    const tops = await Promise.all(given.map(root => givenRoot(root, context)))
    const [only] = tops
    if (tops.length === 1 && only !== undefined && only.form === 'one') return only
    const entries = await Promise.all(
      tops.map(async top => (top.form === 'several' ? top.entries : await childProjects(top.id, context))),
    )
    return { form: 'several', entries: entries.flat(), users: [] }
  }

  async function givenRoot(root: string, context: RequestContext): Promise<TopLevel> {
    const user = /^\/?db\/([^/]+)\/?$/.exec(root)?.[1]
    const id = idForm.test(root) ? (root as ProjectId) : await resolve(asPath(root), context)
    if (id === undefined) {
      if (user !== undefined) return { form: 'several', entries: foundBelow(user), users: [user] }
      throw new Failure('absent', `--root ${root}: the service knows no project at this path`)
    }
    if (user !== undefined) return { form: 'one', id, user }
    return { form: 'several', entries: [{ id, title: await titleOfRoot(root, id, context) }], users: [] }
  }

  async function titleOfRoot(root: string, id: ProjectId, context: RequestContext): Promise<string> {
    if (!idForm.test(root)) return root.replace(/\/$/, '').replace(/^.*\//, '')
    return dialect.facts(await catalog.record({ kind: 'project', id }, context)).title ?? id
  }

  async function childProjects(id: ProjectId, context: RequestContext): Promise<FoundProject[]> {
    const { projects } = await catalog.children(id, context)
    return projects.map(project => ({ id: project.id, title: project.title }))
  }

  let lastTop: TopLevel | undefined

  async function top(context: RequestContext): Promise<TopLevel> {
    lastTop = await presentTop(context)
    return lastTop
  }

  function servicePath(titles: readonly string[]): ServicePath | undefined {
    if (lastTop?.form === 'one') return pathOf(lastTop.user, ...titles)
    const [first, ...rest] = titles
    const path = [...ledger.entries(foundRoom).keys()].find(known => known.endsWith(`/${first}`))
    return path === undefined ? undefined : ([path, ...rest].join('/') as ServicePath)
  }

  async function presentTop(context: RequestContext): Promise<TopLevel> {
    if (given.length > 0) return givenRoots(context)
    const { candidates } = await catalog.user(context)
    for (const user of candidates) {
      const id = await resolve(pathOf(user), context)
      if (id !== undefined) return { form: 'one', id, user }
    }
    return { form: 'several', entries: candidates.flatMap(foundBelow), users: candidates }
  }

  async function users(context: RequestContext): Promise<string[]> {
    const own = await top(context)
    const names = own.form === 'one' ? [own.user] : own.users
    const others = [...ledger.entries(foundRoom).keys()].map(path => /^\/db\/([^/]+)\//.exec(path)?.[1])
    return [...new Set([...names, ...others])].filter(name => name !== undefined)
  }

  function explain(shown: TopLevel): string {
    if (shown.form === 'one') return `projects/ shows /db/${shown.user} (project ${shown.id})`
    const user = shown.users[0]
    const hint =
      user === undefined ? '' : `; type a name to find it by path: cd projects/NAME looks up /db/${user}/NAME`
    return `the service gives the user's space no id, so projects/ shows what was given with --root or found before${hint}`
  }

  return {
    top,
    known: () => lastTop,
    find,
    present,
    servicePath,
    userRoot: (user, context) => resolve(pathOf(user), context),
    foundBelow,
    users,
    explain,
  }
}

const asPath = (root: string): ServicePath => `/${root.replace(/^\/+|\/+$/g, '')}` as ServicePath

/** The answers that mean "there is no such path" as far as anybody can tell; the document names none for this operation. */
const saysNoSuchPath = new Set<Failure['kind']>(['absent', 'invalid', 'forbidden', 'unsupported'])
