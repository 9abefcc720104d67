// Confirmation of projects: asked again before anything is made, shared, renamed or deleted below a name that may mean another project by now.
import { LRUCache } from 'lru-cache'
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isA } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Dialect, Instant, ProjectId, Remote, RequestContext } from '../../remote/remote.js'
import type { NameAliases } from '../names/name-aliases.js'
import type { Roots } from '../names/roots.js'
import { escapeTitle } from '../nodes/name.js'
import type { CalculationNode } from '../nodes/node.js'
import { isOtherRecord } from './meant-project.js'

export interface ConfirmedProjectsParts {
  readonly catalog: Catalog
  readonly remote: Pick<Remote, 'project' | 'calculation'>
  readonly dialect: Dialect
  readonly identities: Pick<Identities, 'observe'>
  readonly aliases: Pick<NameAliases, 'find'>
  readonly roots: Pick<Roots, 'refuseOther'>
  readonly now: () => Instant
}

/** All methods throw a Failure 'another-thing' where the project, or one above it, was reached by a name that means another one by now. */
export interface ConfirmedProjects {
  /** The project's record, as the service has it now; never the one of before, which is shown while the service is away. */
  record(id: ProjectId, context: RequestContext): Promise<JsonObject>
  /** The same for a thing in the project: an answer of the last second counts. */
  confirm(id: ProjectId, context: RequestContext): Promise<void>
  /** The same for a calculation that a path has led to: its record has the name that was listed. */
  calculation(node: CalculationNode, context: RequestContext): Promise<void>
}

/** Milliseconds for which a confirmation counts: an `rm -r` asks once. */
const confirmedMs = 1_000

export function openConfirmedProjects(parts: ConfirmedProjectsParts): ConfirmedProjects {
  const { catalog, dialect, roots, now } = parts
  const confirmed = new LRUCache<ProjectId, Instant>({ max: 1_000 })

  async function presentRecord(id: ProjectId, context: RequestContext): Promise<JsonObject> {
    const thing = { kind: 'project', id } as const
    const record = await catalog.record(thing).ask(context)
    if (catalog.record(thing).stale() === undefined) return record
    const present = await parts.remote.project(id, context)
    parts.identities.observe(thing, dialect.facts(present), 'record')
    return present
  }

  /** Once more, right before a change that has waited is sent: a way that was confirmed when it began. */
  async function lastLook(id: ProjectId, context: RequestContext): Promise<JsonObject> {
    const record = await parts.remote.project(id, context)
    if (listedOtherwiseIn(id, record) !== undefined) throw anotherThing(id)
    return record
  }

  async function confirmOne(id: ProjectId, context: RequestContext): Promise<JsonObject> {
    const began = now()
    catalog.record({ kind: 'project', id }).refresh()
    const [record] = await Promise.all([presentRecord(id, context), roots.refuseOther(id, context)])
    await refuseListedOtherwise(id, record, context)
    confirmed.set(id, began)
    return record
  }

  /** The project whose listing says another thing of it than its record. */
  function listedOtherwiseIn(id: ProjectId, record: JsonObject): ProjectId | undefined {
    const parent = catalog.parentOf(id)
    const listed =
      parent &&
      catalog
        .children(parent)
        .known()
        ?.projects.find(child => child.id === id)
    if (parent === undefined || listed === undefined || !isOtherRecord(listed, record, dialect))
      return undefined
    const { title } = dialect.facts(record)
    // A name that was given here counts before the listing shows it.
    const isGivenHere = title !== undefined && parts.aliases.find(parent, escapeTitle(title))?.id === id
    return isGivenHere ? undefined : parent
  }

  /** A listing that is late is asked again, so that the next look at the name finds what it means now. */
  async function refuseListedOtherwise(
    id: ProjectId,
    record: JsonObject,
    context: RequestContext,
  ): Promise<void> {
    const parent = listedOtherwiseIn(id, record)
    if (parent === undefined) return
    catalog.refreshProject(parent)
    await catalog.children(parent).ask(context)
    throw anotherThing(id)
  }

  /** The record of one that no listing has named says nothing of a name; one that is refused to this user contradicts nothing. */
  async function confirmAbove(id: ProjectId, context: RequestContext): Promise<void> {
    try {
      if (catalog.parentOf(id) === undefined) await roots.refuseOther(id, context)
      else await confirmOne(id, context)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (!isA('denial', failure)) throw failure
    }
  }

  const isConfirmed = (id: ProjectId): boolean =>
    now() - (confirmed.get(id) ?? Number.NEGATIVE_INFINITY) < confirmedMs

  /** The service may say that a project is its own ancestor. */
  function above(id: ProjectId): readonly ProjectId[] {
    const found = new Set([id])
    for (let at = catalog.parentOf(id); at !== undefined && !found.has(at); at = catalog.parentOf(at))
      found.add(at)
    return [...found].slice(1)
  }

  const confirmAll = (ids: readonly ProjectId[], context: RequestContext): Promise<unknown> =>
    Promise.all(ids.filter(id => !isConfirmed(id)).map(one => confirmAbove(one, context)))

  return {
    async record(id, context) {
      if (context.holdsSlot === true) return lastLook(id, context)
      const [record] = await Promise.all([confirmOne(id, context), confirmAll(above(id), context)])
      return record
    },
    async confirm(id, context) {
      await confirmAll([id, ...above(id)], context)
    },
    async calculation(node, context) {
      const record = await parts.remote.calculation(node.id, context)
      if (isOtherRecord(node, record, dialect)) {
        if (node.parent !== undefined) catalog.refreshProject(node.parent)
        throw new Failure(
          'another-thing',
          `calculation ${node.id} was renamed meanwhile, or is another one now`,
        )
      }
      const project = node.parent ?? (dialect.facts(record).parent as ProjectId | undefined)
      if (project !== undefined) await confirmAll([project, ...above(project)], context)
    },
  }
}

const anotherThing = (id: ProjectId): Failure =>
  new Failure(
    'another-thing',
    `project ${id} is another one now, or was renamed meanwhile: nothing is done in it`,
  )
