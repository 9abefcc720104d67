// Places: which project stands at a path of the service, and when the answer that none does is believed.

import type { Ledger } from '../../cache/ledger/ledger.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isA } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { type MaybePromise, recover } from '../../maybe-promise.js'
import { noop } from '../../noop.js'
import type { Dialect, Identity, ProjectId, RequestContext, ServicePath } from '../../remote/remote.js'
import { isSameName } from '../../spelling.js'

/** What was told of a project last, over restarts too. */
export interface ToldIdentities {
  known(thing: ProjectRef): Identity | undefined
  /** Defined where the id has come to stand for another thing since the mount. */
  changeOf(thing: ProjectRef): unknown
}

interface ProjectRef {
  readonly kind: 'project'
  readonly id: ProjectId
}

export interface PlaceParts {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: ToldIdentities
}

/** Where the id of each path that has led to a project is kept. */
export interface KeptPlaces {
  readonly ledger: Ledger
  readonly namespace: string
}

export interface Places {
  /**
   * The project at a path, kept from then on; undefined where there is none.
   * @throws Failure 'in-doubt' where there was one, and nothing shows that it is gone
   */
  projectAt(path: ServicePath, kept: KeptPlaces, context: RequestContext): Promise<ProjectId | undefined>
  /** The id of a user's space: the one it had, where the service still tells the record of that. @throws as `projectAt` */
  spaceAt(path: ServicePath, kept: KeptPlaces, context: RequestContext): Promise<ProjectId | undefined>
  /**
   * Whether something that the service tells shows that this project is no longer there: its record has another name or
   * parent than the path, or the list of the project above is without it.
   */
  isElsewhere(id: ProjectId, path: ServicePath | undefined, context: RequestContext): Promise<boolean>
}

export function openPlaces({ catalog, dialect, identities }: PlaceParts): Places {
  const resolve = (path: ServicePath, context: RequestContext): MaybePromise<ProjectId | undefined> =>
    recover(catalog.project(path).ask(context), unlessDenied)

  const keptAt = (path: ServicePath, { ledger, namespace }: KeptPlaces): ProjectId | undefined =>
    ledger.get(namespace, path) as ProjectId | undefined

  /** Undefined where the service does not tell it. */
  async function recordOf(id: ProjectId, context: RequestContext): Promise<Identity | undefined> {
    const record = await recover(catalog.record({ kind: 'project', id }).ask(context), unlessDenied)
    return record && dialect.facts(record)
  }

  async function isElsewhere(
    id: ProjectId,
    path: ServicePath | undefined,
    context: RequestContext,
    parentThen?: string,
  ): Promise<boolean> {
    const [above, title] = path === undefined ? [] : cutPath(path)
    const place = above && (await resolve(above, context))
    const known = identities.known({ kind: 'project', id })
    const parent = place ?? parentThen ?? known?.parent
    const told = await recordOf(id, context)
    if (told !== undefined)
      return !isSameName(told.title, title) || (parent !== undefined && (told.parent ?? parent) !== parent)
    if (known !== undefined && isNothingKnown(known)) return true
    const children =
      parent === undefined
        ? undefined
        : await recover(catalog.children(parent as ProjectId).ask(context), unlessDenied)
    return children?.projects.every(child => child.id !== id) ?? false
  }

  async function projectAt(
    path: ServicePath,
    kept: KeptPlaces,
    context: RequestContext,
  ): Promise<ProjectId | undefined> {
    const id = await resolve(path, context)
    const before = keptAt(path, kept)
    const parents = `${kept.namespace} in`
    const parentThen = kept.ledger.get(parents, path)
    if (id !== undefined && (id !== before || parentThen === undefined)) {
      const parent = identities.known({ kind: 'project', id })?.parent
      if (parent !== undefined) kept.ledger.set(parents, path, parent)
      else if (id !== before) kept.ledger.delete(parents, path)
    }
    if (id === before) return id
    if (id === undefined) {
      const isGone = before === undefined || (await isElsewhere(before, path, context, parentThen))
      if (!isGone) throw inDoubt(path, before)
      for (const namespace of [kept.namespace, parents]) kept.ledger.delete(namespace, path)
      return undefined
    }
    kept.ledger.set(kept.namespace, path, id)
    // It was renamed or moved: what has led to it by another path leads elsewhere now, or nowhere.
    const others = [...kept.ledger.entries(kept.namespace)].filter(
      ([other, { value }]) => value === id && other !== path,
    )
    for (const [other] of others) await projectAt(other as ServicePath, kept, context).catch(noop)
    return id
  }

  async function spaceAt(
    path: ServicePath,
    kept: KeptPlaces,
    context: RequestContext,
  ): Promise<ProjectId | undefined> {
    const id = await resolve(path, context)
    const before = keptAt(path, kept)
    if (id === before) return id
    if (id !== undefined) {
      kept.ledger.set(kept.namespace, path, id)
      return id
    }
    if (before === undefined) return undefined
    const told = await recordOf(before, context)
    if (told === undefined || identities.changeOf({ kind: 'project', id: before }) !== undefined)
      throw inDoubt(path, before)
    return before
  }

  return { projectAt, spaceAt, isElsewhere }
}

/** What this mount has deleted is remembered as a thing of which nothing is known. */
const isNothingKnown = (told: Identity): boolean => Object.values(told).every(value => value === undefined)

/** The path above, and the last name; above a project of the top is the user's space. */
function cutPath(path: ServicePath): readonly [ServicePath, string] {
  return [parentOf(path) as ServicePath, lastNameOf(path)]
}

/** Undefined in the place of what is refused: no documented answer says "there is no such path", and each may mean it. @throws everything else */
function unlessDenied(thrown: unknown): undefined {
  if (!isA('denial', asFailure(thrown))) throw thrown
}

const inDoubt = (path: string, id: ProjectId): Failure =>
  new Failure(
    'in-doubt',
    `the service tells no project at ${path} any more, where project ${id} was, and nothing else shows that it is gone`,
  )
