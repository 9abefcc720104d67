// The tree below db/: links, so that a path pasted from the platform's web pages works here, colleagues' too.
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { ProjectId, RequestContext } from '../../remote/remote.js'
import type { Roots } from '../names/roots.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import { type Dentry, dentries, type Node, nodeIn } from '../nodes/node.js'
import { nameFoundProjects, type ProjectTree } from './projects.js'

export interface UserTree {
  list(context: RequestContext): Promise<readonly Dentry[]>
  lookup(name: string): Node | undefined
  listBelow(user: string, context: RequestContext): Promise<readonly Dentry[]>
  lookupBelow(user: string, name: string, context: RequestContext): Promise<Node | undefined>
}

export function openUserTree(catalog: Catalog, roots: Roots, projects: ProjectTree): UserTree {
  /**
   * Any name may be a colleague's: the service answers for `/db/<user>` only where it gives that space an id and the
   * caller a right to it, while a shared project below resolves. So every name is a folder, like an automount point.
   */
  const lookup = (name: string): Node | undefined =>
    name.startsWith('.') ? undefined : { kind: 'user', name: titleOf(name) }

  /** A pasted name is a title as it is; one that was completed by a shell is a file name. */
  async function lookupBelow(user: string, name: string, context: RequestContext): Promise<Node | undefined> {
    const entries = await listBelow(user, context)
    const listed = nodeIn(entries, name) ?? nodeIn(entries, escapeTitle(name))
    if (listed !== undefined) return presentLink(listed, context)
    const found = (await roots.find(user, name, context)) ?? (await roots.find(user, titleOf(name), context))
    return found === undefined ? undefined : linkToProject(found.id)
  }

  /** What was found earlier is looked up again by its path. */
  async function presentLink(link: Node, context: RequestContext): Promise<Node | undefined> {
    const id = link.kind === 'link' ? foundLink.exec(link.to)?.[1] : undefined
    if (id === undefined) return link
    const present = await roots.present(id as ProjectId, context)
    return present === undefined ? undefined : linkToProject(present)
  }

  async function listBelow(user: string, context: RequestContext): Promise<readonly Dentry[]> {
    const top = await roots.top(context)
    if (top.form === 'one' ? top.user === user : top.users.includes(user)) {
      const own =
        top.form === 'one' ? await projects.children(top.id, context) : await projects.listTop(context)
      return own.map(({ name }) => ({ name, node: { kind: 'link', to: `../../projects/${name}` } }))
    }
    const root = await roots.userRoot(user, context)
    const found =
      root === undefined ? roots.foundBelow(user) : (await catalog.children(root, context)).projects
    return dentries(nameFoundProjects(found)).map(({ name, node }) => ({
      name,
      node: node.kind === 'project' ? linkToProject(node.id) : node,
    }))
  }

  return {
    list: async context =>
      (await roots.users(context)).map(name => ({ name: escapeTitle(name), node: { kind: 'user', name } })),
    lookup,
    listBelow,
    lookupBelow,
  }
}

const foundLink = /^\.\.\/\.\.\/by-id\/project\/(\d+)$/

const linkToProject = (id: string): Node => ({ kind: 'link', to: `../../by-id/project/${id}` })
