// The tree below projects/: a project's children under their names, its record, index and shares, and what stands at the top.
import type { Catalog, Children } from '../cache/catalog.js'
import type { Ask, CalculationId, Listed, ProjectId } from '../remote/remote.js'
import type { Rights } from './access.js'
import { nameChildren, splitMark, titleOf } from './name.js'
import { type Dentry, dentries, type Node, nodeIn } from './node.js'
import type { Found, Roots } from './roots.js'
import type { WrittenNames } from './written-names.js'

type Named = ReadonlyMap<string, Node>

export interface ProjectTree {
  list(id: ProjectId, ask: Ask): Promise<readonly Dentry[]>
  lookup(id: ProjectId, name: string, ask: Ask): Promise<Node | undefined>
  /** A child found without any request. */
  known(id: ProjectId, name: string): Node | undefined
  /** Sub-projects and calculations only, by name. */
  children(id: ProjectId, ask: Ask): Promise<Named>
  listShares(id: ProjectId, ask: Ask): Promise<readonly Dentry[]>
  /** The entries of a `projects/` that stands for no project itself. */
  listTop(ask: Ask): Promise<readonly Dentry[]>
  /** The same by name, and by path where nothing listed it. */
  lookupTop(name: string, ask: Ask): Promise<Node | undefined>
}

/** `written` are the names that this mount has given, which the service may spell otherwise. */
export function openProjectTree(
  { catalog, rights, written }: { catalog: Catalog; rights: Rights; written: WrittenNames },
  roots: Roots,
): ProjectTree {
  const names = new WeakMap<Children, Named>()

  function named(children: Children, of: ProjectId): Named {
    const known = names.get(children) ?? nameAll(children, of)
    names.set(children, known)
    return known
  }

  async function lookup(id: ProjectId, name: string, ask: Ask): Promise<Node | undefined> {
    const own = nodeIn(ownEntries(id, catalog.parentOf(id)), name)
    if (own !== undefined) return own
    const children = await catalog.children(id, ask)
    return (
      named(children, id).get(name) ?? markedChild(children, name, id) ?? writtenChild(children, name, id)
    )
  }

  /** A name that was written here, of a child that the service still lists. */
  function writtenChild({ projects, calculations }: Children, name: string, id: ProjectId): Node | undefined {
    const child = written.find(id, name)
    const listed: readonly Listed<string>[] = child?.kind === 'project' ? projects : calculations
    return listed.some(item => item.id === child?.id) ? child : undefined
  }

  async function lookupTop(name: string, ask: Ask): Promise<Node | undefined> {
    const top = await roots.top(ask)
    if (top.form === 'one') return lookup(top.id, name, ask)
    const known = nameFound(top.entries).get(name)
    if (known?.kind === 'project') await rights.meet(known.id, ask)
    if (known !== undefined) return known
    for (const user of top.users) {
      const found = await roots.find(user, titleOf(name), ask)
      if (found !== undefined) return { kind: 'project', id: found.id }
    }
    return undefined
  }

  return {
    lookup,
    lookupTop,
    async list(id, ask) {
      return [
        ...ownEntries(id, catalog.parentOf(id)),
        ...dentries(named(await catalog.children(id, ask), id)),
      ]
    },
    known(id, name) {
      const children = catalog.knownChildren(id)
      return children === undefined ? undefined : named(children, id).get(name)
    },
    async children(id, ask) {
      return named(await catalog.children(id, ask), id)
    },
    async listShares(project, ask) {
      const shares = await catalog.shares(project, ask)
      return shares.map(({ id }) => ({
        name: `${id}.json`,
        node: { kind: 'record', of: 'share', id, project },
      }))
    },
    async listTop(ask) {
      const top = await roots.top(ask)
      return top.form === 'several' ? dentries(nameFound(top.entries)) : []
    },
  }
}

/** Projects that are no siblings on the service, under names of their own. */
export function nameFound(found: readonly Found[]): Named {
  const unique = [...new Map(found.map(entry => [entry.id, entry])).values()]
  const given = nameChildren(unique.map(({ id, title }) => ({ kind: 'project', id, title })))
  return new Map(unique.map(({ id }, at) => [given[at] ?? id, { kind: 'project', id }]))
}

function nameAll({ projects, calculations }: Children, of: ProjectId): Named {
  const nodes = [
    ...projects.map(item => projectNode(item, of)),
    ...calculations.map(item => calculationNode(item, of)),
  ]
  const given = nameChildren([
    ...projects.map(({ id, title }) => ({ kind: 'project', id, title }) as const),
    ...calculations.map(({ id, title }) => ({ kind: 'calculation', id, title }) as const),
  ])
  return new Map(nodes.map((node, at) => [given[at] ?? node.id, node]))
}

/** `name~c7` finds calculation 7 here, whoever has the bare name just now. */
function markedChild({ projects, calculations }: Children, name: string, of: ProjectId): Node | undefined {
  const mark = splitMark(name)
  const marked = <Id extends string>(items: readonly Listed<Id>[]) => items.find(({ id }) => id === mark?.id)
  const project = mark?.letter === 'p' ? marked(projects) : undefined
  if (project !== undefined) return projectNode(project, of)
  const calculation = mark?.letter === 'c' ? marked(calculations) : undefined
  return calculation === undefined ? undefined : calculationNode(calculation, of)
}

const dateOf = ({ facts }: Pick<Listed<string>, 'facts'>) => facts.modified ?? facts.created
const projectNode = (item: Listed<ProjectId>, parent: ProjectId) =>
  ({ kind: 'project', id: item.id, date: dateOf(item), parent, published: item.facts.published }) as const
const calculationNode = (item: Listed<CalculationId>, parent: ProjectId) =>
  ({
    kind: 'calculation',
    id: item.id,
    title: item.title,
    date: dateOf(item),
    parent,
    published: item.facts.published,
  }) as const

function ownEntries(id: ProjectId, parent: ProjectId | undefined): readonly Dentry[] {
  return [
    { name: '.project.json', node: { kind: 'record', of: 'project', id, parent } },
    { name: '.index.tsv', node: { kind: 'generated', text: 'project-index', id } },
    { name: '.shares', node: { kind: 'shares', project: id } },
  ]
}
