// Tree below projects/: a project's children under their names, its record, index and shares, and the entries at the top.

import { LRUCache } from 'lru-cache'
import type { Catalog, Children } from '../../cache/metadata/catalog.js'
import { fixedNames, recordFile } from '../../layout.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { chain } from '../../maybe-promise.js'
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import type { ProjectId, RequestContext } from '../../remote/remote.js'
import type { NameAliases, NamedNode } from '../names/name-aliases.js'
import type { FoundProject, Roots } from '../names/roots.js'
import { markedName, nameChildren, splitMark, titleOf } from '../nodes/name.js'
import { type Dentry, dentries, type Node, nodeIn } from '../nodes/node.js'
import type { AccessRights } from './access.js'

/** Projects whose last names are remembered. */
const projectsAtMost = 4096

/** A project's children under their names, projects first. */
interface NamedChildren {
  readonly entries: readonly Dentry[]
  readonly places: NameIndex
}

export interface ProjectSources {
  readonly catalog: Catalog
  readonly rights: AccessRights
  readonly aliases: NameAliases
}

/** `aliases` are the names that this mount has given, which the service may spell otherwise. */
export function openProjectTree({ catalog, rights, aliases }: ProjectSources, roots: Roots) {
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
    return [...fixedEntries(id, catalog), ...named(children, id).entries]
  }

  /** The same without any request; undefined where they are not known. */
  function listKnown(id: ProjectId): readonly Dentry[] | undefined {
    const children = catalog.children(id).known()
    return children && [...fixedEntries(id, catalog), ...named(children, id).entries]
  }

  return {
    lookup,
    lookupTop,
    list,
    listKnown,
    /** The entries of `projects/`, likewise. */
    listKnownTop(): readonly Dentry[] | undefined {
      const top = roots.known()
      if (top === undefined) return undefined
      if (top.form === 'one') return listKnown(top.id)
      return top.entries.length === 0 && top.missing === undefined ? [firstSteps] : foundEntries(top.entries)
    },
    async listShares(project: ProjectId, context: RequestContext): Promise<readonly Dentry[]> {
      const shares = await catalog.shares(project).ask(context)
      return shares.map(({ id }) => ({
        name: recordFile(id),
        node: { kind: 'record', of: 'share', id, project },
      }))
    },
    /** The entries of `projects/`. */
    async listTop(context: RequestContext): Promise<readonly Dentry[]> {
      const top = await roots.top(context)
      if (top.form === 'one') return list(top.id, context)
      if (top.missing !== undefined) throw top.missing
      return top.entries.length === 0 ? [firstSteps] : foundEntries(top.entries)
    },
  }
}

export type ProjectTree = ReturnType<typeof openProjectTree>

/** Where there is no project to list. */
const firstSteps: Dentry = {
  name: fixedNames.readme,
  node: { kind: 'generated', text: 'first-steps', id: '' },
}

const foundEntries = (found: readonly FoundProject[]): readonly Dentry[] =>
  dentries(new Map([...nameFoundProjects(found)].map(([name, { id }]) => [name, { kind: 'project', id }])))

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
