// Roots: the top of `projects/`, which is the user's own root where it has an id, else the given roots and found projects.
import type { Ledger } from '../../cache/ledger/ledger.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { idForm, type ProjectId, type RequestContext, type ServicePath } from '../../remote/remote.js'
import { type KeptPlaces, openPlaces, type PlaceParts } from './places.js'

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
  /** What is to be said of the roots that were given. */
  readonly troubles?: readonly string[]
}

export interface Roots {
  top(context: RequestContext): Promise<TopLevel>
  /** What stood there at the last question. */
  known(): TopLevel | undefined
  /** The project at `/db/<user>/<title>`, remembered once found. @throws Failure 'in-doubt' */
  find(user: string, title: string, context: RequestContext): Promise<FoundProject | undefined>
  /** The project that stands now where this one was found; undefined where there is none any more. @throws Failure 'in-doubt' */
  present(found: FoundProject, context: RequestContext): Promise<ProjectId | undefined>
  /** The id of `/db/<user>`, where the service gives it one. @throws Failure 'in-doubt' where it had one */
  userRoot(user: string, context: RequestContext): Promise<ProjectId | undefined>
  /** Projects found earlier below `/db/<user>`. */
  foundBelow(user: string): readonly FoundProject[]
  /** Names that `db/` lists: the caller's own and those under which something was found. */
  users(context: RequestContext): Promise<readonly string[]>
  /** The platform's path of a place below `projects/`, given the titles on the way; from memory. */
  servicePath(titles: readonly string[]): ServicePath | undefined
  /** Given roots of which the service has never told, and says now that there is no such project. Rejects for no outage. */
  neverThere(context: RequestContext): Promise<readonly string[]>
  /** What to say about the top, for people. */
  explain(top: TopLevel): string
}

export interface RootParts extends PlaceParts {
  /** Paths that were typed. */
  readonly ledger: Ledger
  /** What no operation of the service would bring back: which spaces and given roots were there. */
  readonly state: Ledger
  /** The user's `--root`s: paths or ids. */
  readonly given: readonly string[]
}

/** A given root as it is now: an entry, what lies in a space, or nothing but what is to be said of it. */
interface GivenRoot {
  readonly top?: TopLevel
  /** Why its names are not known. */
  readonly missing?: Failure
  readonly trouble?: string
}

export function openRoots({ ledger, state, given, ...parts }: RootParts): Roots {
  const { catalog, dialect } = parts
  const places = openPlaces(parts)
  const found: KeptPlaces = { ledger, namespace: 'found' }
  const spaces: KeptPlaces = { ledger: state, namespace: 'space' }
  const roots: KeptPlaces = { ledger: state, namespace: 'root' }
  /** Titles of the roots that were given by their ids. */
  const rootTitles = 'root title'
  /** Given roots of which the service has shown that they are gone. */
  const goneRoots = 'root gone'
  const pathOf = (...parts: string[]): ServicePath => `/db/${parts.join('/')}` as ServicePath

  async function find(
    user: string,
    title: string,
    context: RequestContext,
  ): Promise<FoundProject | undefined> {
    const path = pathOf(user, title)
    const id = await places.projectAt(path, found, context)
    return id && { id, title, path }
  }

  /** A service that was set up again may have another project on that path, and another path for that id. */
  async function present(entry: FoundProject, context: RequestContext): Promise<ProjectId | undefined> {
    if (entry.doubt !== undefined) throw entry.doubt
    if (entry.path === undefined) return entry.id
    return places.projectAt(entry.path, found, context)
  }

  function foundBelow(user: string): FoundProject[] {
    const prefix = pathOf(user, '')
    return [...ledger.entries(found.namespace)]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, kept]) => ({
        id: kept.value as ProjectId,
        title: path.slice(prefix.length),
        path: path as ServicePath,
      }))
  }

  async function givenRoots(context: RequestContext): Promise<TopLevel> {
    const all = await Promise.all(given.map(root => givenRoot(root, context)))
    const [only] = all
    if (all.length === 1 && only?.top?.form === 'one') return only.top
    const looks = await Promise.all(all.map(root => withChildren(root, context)))
    const troubles = looks.flatMap(({ trouble, missing }) => trouble ?? missing?.message ?? [])
    const missing = looks.find(look => look.missing !== undefined)?.missing
    return { form: 'several', entries: looks.flatMap(({ entries }) => entries), users: [], missing, troubles }
  }

  /** One root that cannot be told keeps no other from being shown. */
  async function withChildren(
    { top, ...rest }: GivenRoot,
    context: RequestContext,
  ): Promise<Omit<GivenRoot, 'top'> & { readonly entries: readonly FoundProject[] }> {
    if (top?.form !== 'one') return { ...rest, entries: top?.entries ?? [] }
    try {
      return { ...rest, entries: await childProjects(top.id, context) }
    } catch (thrown) {
      return { missing: asFailure(thrown), entries: [] }
    }
  }

  async function givenRoot(root: string, context: RequestContext): Promise<GivenRoot> {
    const user = spaceForm.exec(root)?.[1]
    if (user === undefined) return entryRoot(root, context)
    try {
      const id = await places.spaceAt(pathOf(user), spaces, context)
      if (id !== undefined) return { top: { form: 'one', id, user } }
      return { top: { form: 'several', entries: foundBelow(user), users: [user] } }
    } catch (thrown) {
      return { missing: asFailure(thrown) }
    }
  }

  /** Its name is known from its path, or was told once: it stays listed while it is not told whether it is there. */
  async function entryRoot(root: string, context: RequestContext): Promise<GivenRoot> {
    const path = idForm.test(root) ? undefined : asPath(root)
    const id = path === undefined ? (root as ProjectId) : (state.get(roots.namespace, path) as ProjectId)
    const title = path === undefined ? state.get(rootTitles, root) : path.replace(/^.*\//, '')
    try {
      const entry = await (path === undefined ? rootById(id, context) : rootByPath(path, context))
      if (entry === undefined) return lostRoot(root, id)
      if (state.get(goneRoots, root) !== undefined) state.delete(goneRoots, root)
      return { top: { form: 'several', entries: [entry], users: [] } }
    } catch (thrown) {
      const doubt = asFailure(thrown)
      const trouble = `--root ${root}: ${doubt.message}`
      if (id === undefined || title === undefined) return { missing: doubt, trouble }
      return { top: { form: 'several', entries: [{ id, title, doubt }], users: [] }, trouble }
    }
  }

  async function rootByPath(path: ServicePath, context: RequestContext): Promise<FoundProject | undefined> {
    const id = await places.projectAt(path, roots, context)
    return id && { id, title: path.replace(/^.*\//, '') }
  }

  async function rootById(id: ProjectId, context: RequestContext): Promise<FoundProject | undefined> {
    try {
      const { title = id } = dialect.facts(await catalog.record({ kind: 'project', id }).ask(context))
      if (state.get(rootTitles, id) !== title) state.set(rootTitles, id, title)
      return { id, title }
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (failure.kind !== 'absent') throw failure
      const isGone =
        state.get(goneRoots, id) !== undefined || (await places.isElsewhere(id, undefined, context))
      if (!isGone) throw new Failure('in-doubt', failure.message, { cause: failure, said: failure.said })
      return undefined
    }
  }

  /** It was shown to be gone just now or earlier; or the service has never told of it, which may be a fault of the moment. */
  function lostRoot(root: string, kept: ProjectId | undefined): GivenRoot {
    if (kept !== undefined && state.get(goneRoots, root) === undefined) state.set(goneRoots, root, kept)
    const trouble = `--root ${root}: the service knows no project at this path`
    return state.get(goneRoots, root) === undefined
      ? { missing: new Failure('in-doubt', trouble) }
      : { trouble }
  }

  async function childProjects(id: ProjectId, context: RequestContext): Promise<FoundProject[]> {
    const { projects } = await catalog.children(id).ask(context)
    return projects.map(project => ({ id: project.id, title: project.title }))
  }

  async function isNeverThere(root: string, context: RequestContext): Promise<boolean> {
    const path = idForm.test(root) ? undefined : asPath(root)
    // A space may have no id, and projects below it.
    if (path !== undefined && spaceForm.test(path)) return false
    const wasTold = path === undefined ? state.get(rootTitles, root) : state.get(roots.namespace, path)
    if (wasTold !== undefined || state.get(goneRoots, root) !== undefined) return false
    try {
      if (path === undefined) await catalog.record({ kind: 'project', id: root as ProjectId }).ask(context)
      else await catalog.project(path).ask(context)
      return false
    } catch (thrown) {
      return isAbsent(thrown)
    }
  }

  async function neverThere(context: RequestContext): Promise<readonly string[]> {
    const answers = await Promise.all(given.map(root => isNeverThere(root, context)))
    return given.filter((_, at) => answers[at])
  }

  let lastTop: TopLevel | undefined

  async function top(context: RequestContext): Promise<TopLevel> {
    lastTop = await presentTop(context)
    return lastTop
  }

  function servicePath(titles: readonly string[]): ServicePath | undefined {
    if (lastTop?.form === 'one') return pathOf(lastTop.user, ...titles)
    const [first, ...rest] = titles
    const path = [...ledger.entries(found.namespace).keys()].find(known => known.endsWith(`/${first}`))
    return path === undefined ? undefined : ([path, ...rest].join('/') as ServicePath)
  }

  async function presentTop(context: RequestContext): Promise<TopLevel> {
    if (given.length > 0) return givenRoots(context)
    const { candidates } = await catalog.user().ask(context)
    for (const user of candidates) {
      const id = await places.spaceAt(pathOf(user), spaces, context)
      if (id !== undefined) return { form: 'one', id, user }
    }
    return { form: 'several', entries: candidates.flatMap(foundBelow), users: candidates }
  }

  async function users(context: RequestContext): Promise<string[]> {
    const own = await top(context)
    const names = own.form === 'one' ? [own.user] : own.users
    const others = [...ledger.entries(found.namespace).keys()].map(path => /^\/db\/([^/]+)\//.exec(path)?.[1])
    return [...new Set([...names, ...others])].filter(name => name !== undefined)
  }

  function explain(shown: TopLevel): string {
    if (shown.form === 'one') return `projects/ shows /db/${shown.user} (project ${shown.id})`
    const told = (shown.troubles ?? []).map(trouble => `; ${trouble}`).join('')
    // Whether the user's space has an id was not asked for then.
    if (shown.users.length === 0 && given.length > 0)
      return `projects/ shows what was given with --root${told}`
    const user = shown.users[0]
    const hint =
      user === undefined ? '' : `; type a name to find it by path: cd projects/NAME looks up /db/${user}/NAME`
    return `the service gives the user's space no id, so projects/ shows what was given with --root or found before${hint}${told}`
  }

  return {
    top,
    known: () => lastTop,
    find,
    present,
    servicePath,
    userRoot: (user, context) => places.spaceAt(pathOf(user), spaces, context),
    foundBelow,
    users,
    neverThere,
    explain,
  }
}

const spaceForm = /^\/?db\/([^/]+)\/?$/

const asPath = (root: string): ServicePath => `/${root.replace(/^\/+|\/+$/g, '')}` as ServicePath
