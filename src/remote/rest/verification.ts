// Checks that need a second request: whether a listing is of the requested project, and an id of the resolved path.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { asFailure, isA } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import { type Clock, dueIn, withDeadline } from '../clock.js'
import type {
  CalculationId,
  Dialect,
  Listed,
  ListedCalculation,
  ListedProject,
  ProjectId,
  Remote,
  RequestContext,
  ServicePath,
} from '../remote.js'
import { refuseOtherName, wrongRecordFailure } from '../wire/identity.js'

type ListChildren<Item> = (of: ProjectId, context: RequestContext) => Promise<readonly Item[]>

interface Listings {
  readonly project: ListChildren<ListedProject>
  readonly calculation: ListChildren<ListedCalculation>
}

const remembered = 4096
/** Milliseconds within which the other project has to answer: the listing itself is waiting. */
const proofWithinMs = 2_000
/** Milliseconds in which a project that could not be listed is not requested again. */
const unknownForMs = 60_000
/** So many of a project's children are remembered to recognise its listing. */
const sampled = 8

/**
 * The listings, each refused where it is another project's. The parent that the items name is only a hint, because that
 * field may mean something else. Where all items name one other project, two things prove it: earlier items of the
 * requested project named it as parent, and none of those is listed now; or the other project's own listing, requested
 * for this check, has one of the items too, because an item lies in one project.
 */
export function checkedChildren(
  listings: Listings,
  project: Remote['project'],
  { dialect, clock }: { dialect: Dialect; clock: Clock },
): Listings {
  /** Some items of each project whose listing named the project itself as parent. */
  const own = new LRUCache<string, readonly string[]>(upTo(remembered))
  /** Listings whose named project had none of the items: checked again when they change, or when its answer was faulty. */
  const cleared = new LRUCache<string, string>(upTo(remembered))
  /** Projects that could not be requested: a doubt about one listing must not delay the others. */
  const unknown = new LRUCache<string, true>({ ...upTo(remembered), ttl: unknownForMs, perf: clock })

  const checked =
    <Item extends Listed<string>>(
      kind: Listed<string>['kind'],
      list: ListChildren<Item>,
    ): ListChildren<Item> =>
    async (of, context) => {
      const items = await list(of, context)
      const other = soleParent(items)
      if (other === undefined) return items
      const key = `${kind} ${of}`
      if (other === of) {
        own.set(
          key,
          items.slice(0, sampled).map(({ id }) => id),
        )
        return items
      }
      const ids = new Set<string>(items.map(({ id }) => id))
      const foreign = () => wrongRecordFailure(`the ${kind}s in project ${of}`, `those of project ${other}`)
      if (own.get(key)?.some(id => ids.has(id)) === false) throw foreign()
      const print = `${other} ${fingerprint(ids)}`
      if (cleared.get(key) === print) return items
      const asked = `${kind} ${other}`
      if (unknown.has(asked)) return items
      const others = await listingIfAny(() => list(other, context), clock)
      if (others === undefined) {
        unknown.set(asked, true)
        return items
      }
      const named = soleParent(others)
      const shared = others.filter(({ id }) => ids.has(id)).map(({ id }) => String(id))
      // Where the listings of two projects are swapped, each names the other one.
      if (named === of || !(await areItselfOrAbove(shared, of, context))) throw foreign()
      if (named === undefined || named === other) cleared.set(key, print)
      return items
    }

  /** A project listed in itself, or in its own child: that child's own listing has it, too. */
  async function areItselfOrAbove(
    shared: readonly string[],
    of: ProjectId,
    context: RequestContext,
  ): Promise<boolean> {
    const others = shared.filter(id => id !== of)
    if (others.length === 0) return true
    if (others.length > 1) return false
    return dialect.facts(await project(of, context)).parent === others[0]
  }

  return {
    project: checked('project', listings.project),
    calculation: checked('calculation', listings.calculation),
  }
}

/** The one project that every item with a parent names. */
function soleParent(items: readonly Listed<string>[]): ProjectId | undefined {
  let sole: ProjectId | undefined
  for (const { parent } of items) {
    if (parent === undefined || parent === sole) continue
    if (sole !== undefined) return undefined
    sole = parent
  }
  return sole
}

/** The same for the same ids in another order. */
const fingerprint = (ids: ReadonlySet<string>): string =>
  createHash('sha256')
    .update([...ids].sort().join())
    .digest('base64')

/** Undefined where it could not be fetched: that proves nothing, and the listing is used. */
async function listingIfAny<Item>(
  list: () => Promise<readonly Item[]>,
  clock: Clock,
): Promise<readonly Item[] | undefined> {
  try {
    return await withDeadline(
      list(),
      dueIn(proofWithinMs, clock),
      clock,
      'the check was not answered in time',
    )
  } catch (thrown) {
    return isA('denial', asFailure(thrown)) ? [] : undefined
  }
}

export interface VerifiedPaths {
  project(path: ServicePath, id: ProjectId, context: RequestContext): Promise<ProjectId>
  calculation(path: ServicePath, id: CalculationId, context: RequestContext): Promise<CalculationId>
}

/**
 * The id that a path resolved to, once its record has the path's last name; checked once for each pair. A user's
 * space (`/db/<user>`) may have any name, and a record that the caller may not read proves nothing.
 * @throws Failure 'broken' where the record has another name
 */
export function openVerifiedPaths({
  project,
  calculation,
  dialect,
}: Pick<Remote, 'project' | 'calculation'> & { readonly dialect: Dialect }): VerifiedPaths {
  const verified = new LRUCache<string, string>(upTo(remembered))

  async function verify<Id extends string>(
    path: ServicePath,
    id: Id,
    read: () => ReturnType<Remote['project']>,
  ): Promise<Id> {
    if (isSpace(path) || verified.get(path) === id) return id
    try {
      refuseOtherName(path, id, dialect.facts(await read()).title)
    } catch (thrown) {
      if (asFailure(thrown).kind !== 'forbidden' && asFailure(thrown).kind !== 'unsupported') throw thrown
    }
    verified.set(path, id)
    return id
  }

  return {
    project: (path, id, context) => verify(path, id, () => project(id, context)),
    calculation: (path, id, context) => verify(path, id, () => calculation(id, context)),
  }
}

const isSpace = (path: ServicePath): boolean => /^\/db\/[^/]+\/?$/.test(path)
