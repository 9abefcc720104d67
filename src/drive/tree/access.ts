// Access rights: the mount's own limit, what is published, and shares that are READ; decided here alone.
import type { Catalog, Readable } from '../../cache/metadata/catalog.js'
import { Failure, unlessFailure } from '../../failure.js'
import { recover } from '../../maybe-promise.js'
import type { ProjectId, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { Node } from '../nodes/node.js'

/** read: nothing is changed. edit: records are. manage: things are deleted, too. */
export type Access = 'read' | 'edit' | 'manage'

export function openAccessRights(
  access: Access,
  { catalog, dialect }: { catalog: Catalog; dialect: Dialect },
) {
  const readOnly = new Failure('read-only', 'the drive is mounted with --access read')
  const seen = new WeakMap<Node, { readonly revision: number; readonly failure: Failure | undefined }>()

  /** Why this may not be changed, or something made in it; undefined where nothing that is known here forbids it. From memory. */
  function refusal(node: Node): Failure | undefined {
    return access === 'read' ? readOnly : frozen(node)
  }

  /** The same for its deletion; `made` is true if this mount has made the project. */
  function refusalToDelete(node: Node, made = false): Failure | undefined {
    if (access === 'edit' && !made) return onlyManaged(deletedWords[node.kind] ?? 'a record')
    return refusal(node)
  }

  function frozen(node: Node): Failure | undefined {
    // A share, or the directory of them.
    if ('project' in node) return frozenProject(node.project)
    switch (node.kind) {
      case 'project':
        return node.published ? isPublished('project', node.id) : frozenProject(node.id)
      case 'calculation':
        return node.published
          ? isPublished('calculation', node.id)
          : (published('calculation', node.id) ?? frozenProject(node.parent))
      case 'report':
      case 'order':
        return published('report', node.id)
      case 'record':
        return node.of === 'report'
          ? published('report', node.id)
          : frozen({ ...node, kind: node.of, title: '' } as Node)
      default:
        return undefined
    }
  }

  /** A walk asks for the mode of every directory, and each answer looks at all that is above it. */
  function frozenNow(directory: Node): Failure | undefined {
    const revision = catalog.revision()
    const known = seen.get(directory)
    if (known?.revision === revision) return known.failure
    const failure = frozen(directory)
    seen.set(directory, { revision, failure })
    return failure
  }

  /** A share above a project counts for it, too: the nearest share of the caller's decides. */
  function frozenProject(project: ProjectId | undefined): Failure | undefined {
    let shared: 'unknown' | 'more than read' = 'unknown'
    const seen = new Set<ProjectId>()
    for (let at = project; at !== undefined && !seen.has(at); at = catalog.parentOf(at)) {
      seen.add(at)
      const frozen = published('project', at)
      if (frozen !== undefined) return frozen
      const permission = ownPermission(at)
      if (permission === 'READ' && shared === 'unknown')
        return new Failure('read-only', `the project ${at} is shared with you for reading only`)
      if (permission !== undefined) shared = 'more than read'
    }
    return undefined
  }

  function ownPermission(project: ProjectId) {
    const { candidates = [] } = catalog.user().known() ?? {}
    const shares = catalog.shares(project).known() ?? []
    return shares.find(({ user }) => user !== undefined && candidates.includes(user))?.permission
  }

  function published(kind: 'project' | 'calculation' | 'report', id: string): Failure | undefined {
    const record = catalog.record({ kind, id } as Readable).known()
    if (record === undefined || !dialect.facts(record).published) return undefined
    return isPublished(kind, id)
  }

  return {
    access,
    refusal,
    refusalToDelete,
    /** Why nothing in this directory can be changed; undefined where it can, as far as is known. */
    frozen: (directory: Node): Failure | undefined => (access === 'read' ? readOnly : frozenNow(directory)),
    /** Asks for the shares of this project, so that a READ share of the caller's is known; a failure leaves it unknown. */
    async meet(project: ProjectId, context: RequestContext): Promise<void> {
      if (access === 'read') return
      // A user who may not see the list gets the service's own refusal at the save.
      await recover(catalog.shares(project).ask(context), unlessFailure)
    },
  }
}

export type AccessRights = ReturnType<typeof openAccessRights>

const deletedWords: Partial<Record<Node['kind'], string>> = {
  project: 'a project that this mount has not made',
  calculation: 'a calculation',
}

const isPublished = (kind: string, id: string): Failure =>
  new Failure('read-only', `the ${kind} ${id} is published: the platform does not let it change`)

function onlyManaged(what: string): Failure {
  return new Failure(
    'not-permitted',
    `${what} is deleted only on a drive that is mounted with --access manage`,
  )
}
