// Lineage: the project of a thing and the projects above, by the thing itself, whatever path led to it.
import type { Catalog, Readable } from '../../cache/metadata/catalog.js'
import type { Dialect, ProjectId } from '../../remote/remote.js'
import { type CalculationNode, type Node, nodeKey } from '../nodes/node.js'

/** What one intention may be about: a project with all that is in it, all reports, a parent that is not known, or all there is. */
export type Scope = `project ${string}` | 'reports' | 'unknown' | 'all'

export interface Lineage {
  /** The scopes that a thing lies in, the innermost first; of a project or a directory of shares its own is the first. */
  scopesOf(node: Node): readonly Scope[]
  /** The project of a calculation; undefined where neither a listing nor a record has shown it. */
  projectOf(node: Pick<CalculationNode, 'id' | 'parent'>): ProjectId | undefined
  /** The keys of the calculations that a project is known to list. */
  calculationsIn(scope: Scope): readonly string[]
}

const scopeOfProject = (id: ProjectId): Scope => `project ${id}`

export function openLineage({ catalog, dialect }: { catalog: Catalog; dialect: Dialect }): Lineage {
  function parentIn(of: Readable): ProjectId | undefined {
    const record = catalog.record(of).known()
    return record === undefined ? undefined : (dialect.facts(record).parent as ProjectId | undefined)
  }

  function upFrom(project: ProjectId | undefined): readonly Scope[] {
    if (project === undefined) return ['unknown']
    const found: Scope[] = []
    for (let at: ProjectId | undefined = project; at !== undefined; ) {
      const scope = scopeOfProject(at)
      // The service may say that a project is its own ancestor.
      if (found.includes(scope)) break
      found.push(scope)
      at = catalog.parentOf(at) ?? parentIn({ kind: 'project', id: at })
    }
    return found
  }

  const projectOf = ({ id, parent }: Pick<CalculationNode, 'id' | 'parent'>): ProjectId | undefined =>
    parent ?? parentIn({ kind: 'calculation', id })

  return {
    projectOf,
    calculationsIn(scope) {
      const id = /^project (.+)$/.exec(scope)?.[1]
      const children = id === undefined ? undefined : catalog.children(id as ProjectId).known()
      return (children?.calculations ?? []).map(nodeKey)
    },
    scopesOf(node) {
      switch (node.kind) {
        case 'project':
          return upFrom(node.id)
        case 'calculation':
          return upFrom(projectOf(node))
        case 'content':
          return upFrom(projectOf({ id: node.content.calculation }))
        case 'shares':
          return upFrom(node.project)
        case 'reports':
          return ['reports']
        case 'record':
          switch (node.of) {
            case 'project':
              return upFrom(node.id)
            case 'calculation':
              return upFrom(projectOf(node))
            case 'share':
              return upFrom(node.project)
            case 'report':
              return ['reports']
          }
          return []
        default:
          return []
      }
    },
  }
}
