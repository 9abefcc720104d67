// Tree below projects/: a project's children under their names, its record, index and shares, and the entries at the top.
import { LRUCache } from 'lru-cache'
import type { Catalog, Children } from '../../cache/metadata/catalog.js'
import { fixedNames, recordFile } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import type { ProjectId, RequestContext } from '../../remote/remote.js'
import type { NamedNode } from '../names/name-aliases.js'
import type { FoundProject, SeveralTop } from '../names/roots.js'
import { markedName, nameChildren, splitMark, titleOf } from '../nodes/name.js'
import { type Dentry, generatedEntry, type Node, nodeIn } from '../nodes/node.js'
import type { DirectoryKinds, TreeSources } from './directory-kind.js'

const projectsAtMost = 4096

interface NamedChildren {
  readonly entries: readonly Dentry[]
  readonly places: NameIndex
}

export function openProjectKinds(sources: TreeSources): Pick<DirectoryKinds, 'top' | 'project' | 'shares'> {
  const { catalog, rights, aliases, roots } = sources
  const namesOf = new WeakMap<Children, NamedChildren>()
  const namedLast = new LRUCache<ProjectId, NamedChildren>({ max: projectsAtMost })

  function named(children: Children, of: ProjectId): NamedChildren {
    const known = namesOf.get(children)
    if (known !== undefined) return known
    const before = namedLast.get(of)
    const listed = [...children.projects, ...children.calculations]
    // A name that was used for a sibling means no second thing: what was shown with a mark keeps it.
    const names = nameChildren(listed, child => before?.places.find(markedName(child)) !== undefined)
    const entries = listed.map((node, at) => ({ name: names[at] ?? '', node }))
    const given = { entries, places: nameIndex(entries) }
    namesOf.set(children, given)
    namedLast.set(of, given)
    return given
  }

  function childNamed(children: Children, name: string, of: ProjectId): Node | undefined {
    const { entries, places } = named(children, of)
    return entries[places.find(name) ?? -1]?.node
  }

  const childIn = (children: Children, name: string, id: ProjectId): Node | undefined =>
    childNamed(children, name, id) ?? markedChild(children, name) ?? writtenChild(children, name, id)

  function lookup(id: ProjectId, name: string, context: RequestContext): MaybePromise<Node | undefined> {
    const asked = name === fixedNames.shares ? catalog.askDoubtfulShares(id, context) : undefined
    return chain(asked, () => {
      const own = name.startsWith('.') ? nodeIn(fixedEntries(id, catalog), name) : undefined
      if (own !== undefined) return own
      return chain(catalog.children(id).ask(context), children => childIn(children, name, id))
    })
  }

  /** A name that was written here, of a child that the service still lists. */
  function writtenChild({ projects, calculations }: Children, name: string, id: ProjectId): Node | undefined {
    const listed = ({ kind, id }: NamedNode) =>
      (kind === 'project' ? projects : calculations).find(one => one.id === id)
    const written = aliases.find(id, name, node => listed(node)?.title)
    return written && { ...written, since: listed(written)?.since }
  }

  /** A name in `projects/`; by its path where nothing lists it. */
  async function lookupTop(name: string, context: RequestContext): Promise<Node | undefined> {
    const top = await roots.top(context)
    if (top.form === 'one') return lookup(top.id, name, context)
    const known = nameFoundProjects(top.entries).get(name)
    if (known !== undefined) {
      const id = await roots.present(known, context)
      // The known top is made of the projects that were found.
      if (id !== known.id) await roots.top(context)
      if (id === undefined) return undefined
      await rights.meet(id, context)
      return { kind: 'project', id }
    }
    if (top.missing !== undefined) throw top.missing
    if (name === fixedNames.readme && top.entries.length === 0) return firstSteps.node
    for (const user of top.users) {
      const found = await roots.find(user, titleOf(name), context)
      if (found !== undefined) return { kind: 'project', id: found.id }
    }
    return undefined
  }

  async function list(id: ProjectId, context: RequestContext): Promise<readonly Dentry[]> {
    const children = await catalog.children(id).ask(context)
    await catalog.askDoubtfulShares(id, context)
    return entriesOf(children, id)
  }

  const entriesOf = (children: Children, id: ProjectId): readonly Dentry[] => [
    ...fixedEntries(id, catalog),
    ...named(children, id).entries,
  ]

  function listKnown(id: ProjectId): readonly Dentry[] | undefined {
    const children = catalog.children(id).known()
    return children && entriesOf(children, id)
  }

  return {
    top: {
      async list(_, context) {
        const top = await roots.top(context)
        if (top.form === 'one') return list(top.id, context)
        if (top.missing !== undefined) throw top.missing
        return foundEntries(top)
      },
      lookup: (_, name, context) => lookupTop(name, context),
      known() {
        const top = roots.known()
        return top?.form === 'one' ? listKnown(top.id) : top && foundEntries(top)
      },
    },
    project: {
      list: ({ id }, context) => list(id, context),
      lookup: ({ id }, name, context) => lookup(id, name, context),
      known: ({ id }) => listKnown(id),
      refresh: ({ id }) => catalog.refreshProject(id),
    },
    shares: {
      async list({ project }, context) {
        const shares = await catalog.shares(project).ask(context)
        return shares.map(({ id }) => ({
          name: recordFile(id),
          node: { kind: 'record', of: 'share', id, project },
        }))
      },
      refresh: ({ project }) => catalog.refreshProject(project),
    },
  }
}

/** Where there is no project to list. */
const firstSteps = generatedEntry(fixedNames.readme, 'first-steps')

function foundEntries({ entries, missing }: SeveralTop): readonly Dentry[] {
  if (entries.length === 0 && missing === undefined) return [firstSteps]
  return [...nameFoundProjects(entries)].map(([name, { id }]) => ({ name, node: { kind: 'project', id } }))
}

/** Projects that are no siblings on the service, under names of their own. */
export function nameFoundProjects<Found extends FoundProject>(
  found: readonly Found[],
): ReadonlyMap<string, Found> {
  const unique = [...new Map(found.map(entry => [entry.id, entry])).values()]
  const given = nameChildren(unique.map(({ id, title }) => ({ kind: 'project', id, title })))
  return new Map(unique.map((entry, at) => [given[at] ?? entry.id, entry]))
}

/** `name~c7` finds calculation 7 here, whichever thing has the bare name. */
function markedChild({ projects, calculations }: Children, name: string): Node | undefined {
  const mark = splitMark(name)
  if (mark?.letter === 'p') return projects.find(({ id }) => id === mark.id)
  return mark?.letter === 'c' ? calculations.find(({ id }) => id === mark.id) : undefined
}

function fixedEntries(id: ProjectId, { lacks, parentOf }: Catalog): readonly Dentry[] {
  const parent = parentOf(id)
  const record: Dentry = { name: fixedNames.project, node: { kind: 'record', of: 'project', id, parent } }
  const index: Dentry = {
    name: fixedNames.projectIndex,
    node: { kind: 'generated', text: 'project-index', id },
  }
  const shares: Dentry = { name: fixedNames.shares, node: { kind: 'shares', project: id } }
  return [...(lacks('project-record') ? [] : [record]), index, ...(lacks('shares') ? [] : [shares])]
}
