// What one answer alone cannot tell: whether a listing is that of the asked project, and a resolved id that of the path.
import { LRUCache } from 'lru-cache'
import { asFailure, type FailureKind } from '../../failure.js'
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

/**
 * The listings, each refused where it is another project's. Which project the items name as their parent is a hint only,
 * for nothing proves that the field means that: where all of them name one other project, that project is asked for its
 * own listing, and the same items there prove it.
 */
export function checkedChildren(listings: Listings): Listings {
  const accepted = new LRUCache<string, true>({ max: remembered })

  const checked =
    <Item extends Listed<string>>(
      kind: Listed<string>['kind'],
      list: ListChildren<Item>,
    ): ListChildren<Item> =>
    async (of, context) => {
      const items = await list(of, context)
      const other = otherParent(items, of)
      if (other === undefined || accepted.has(`${kind} ${of} ${other}`)) return items
      if (isSame(items, await listingIfAny(list, other, context)))
        throw wrongRecordFailure(`the ${kind}s in project ${of}`, `those of project ${other}`)
      accepted.set(`${kind} ${of} ${other}`, true)
      return items
    }

  return {
    project: checked('project', listings.project),
    calculation: checked('calculation', listings.calculation),
  }
}

/** The one project that every item with a parent names, if it is not the asked one. */
function otherParent(items: readonly Listed<string>[], of: ProjectId): ProjectId | undefined {
  let other: ProjectId | undefined
  for (const { parent } of items) {
    if (parent === undefined) continue
    if (parent === of || (other !== undefined && parent !== other)) return undefined
    other = parent
  }
  return other
}

const isSame = (one: readonly Listed<string>[], other: readonly Listed<string>[]): boolean =>
  one.length === other.length && one.every((item, at) => item.id === other[at]?.id)

/** Failures that are the service's own answer about this very thing: they tell nothing about another one. */
const answers = new Set<FailureKind>(['absent', 'forbidden', 'invalid', 'unsupported'])

async function listingIfAny<Item>(
  list: ListChildren<Item>,
  of: ProjectId,
  context: RequestContext,
): Promise<readonly Item[]> {
  try {
    return await list(of, context)
  } catch (thrown) {
    if (answers.has(asFailure(thrown).kind)) return []
    throw thrown
  }
}

export interface VerifiedPaths {
  project(path: ServicePath, id: ProjectId, context: RequestContext): Promise<ProjectId>
  calculation(path: ServicePath, id: CalculationId, context: RequestContext): Promise<CalculationId>
}

/**
 * The id that a path resolved to, once its record has the path's last name; asked once for each pair. A user's space
 * (`/db/<user>`) may have any name, and a record that the caller may not see tells nothing.
 * @throws Failure 'broken' where the record has another name
 */
export function openVerifiedPaths({
  project,
  calculation,
  dialect,
}: Pick<Remote, 'project' | 'calculation'> & { readonly dialect: Dialect }): VerifiedPaths {
  const verified = new LRUCache<string, string>({ max: remembered })

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
