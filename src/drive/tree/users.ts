// The tree below db/: links, so that a path pasted from the platform's web pages works here, colleagues' too.
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { Ask, ProjectId } from '../../remote/remote.js'
import type { Roots } from '../names/roots.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import { type Dentry, dentries, type Node, nodeIn } from '../nodes/node.js'
import { nameFound, type ProjectTree } from './projects.js'

export interface UserTree {
  list(ask: Ask): Promise<readonly Dentry[]>
  lookup(name: string): Node | undefined
  listBelow(user: string, ask: Ask): Promise<readonly Dentry[]>
  lookupBelow(user: string, name: string, ask: Ask): Promise<Node | undefined>
}

export function openUserTree(catalog: Catalog, roots: Roots, projects: ProjectTree): UserTree {
  /**
   * Any name may be a colleague's: the service answers for `/db/<user>` only where it gives that space an id and the
   * caller a right to it, while a shared project below resolves. So every name is a folder, like an automount point.
   */
  const lookup = (name: string): Node | undefined =>
    name.startsWith('.') ? undefined : { kind: 'user', name: titleOf(name) }

  /** A pasted name is a title as it is; one that was completed by a shell is a file name. */
  async function lookupBelow(user: string, name: string, ask: Ask): Promise<Node | undefined> {
    const entries = await listBelow(user, ask)
    const listed = nodeIn(entries, name) ?? nodeIn(entries, escapeTitle(name))
    if (listed !== undefined) return presentLink(listed, ask)
    const found = (await roots.find(user, name, ask)) ?? (await roots.find(user, titleOf(name), ask))
    return found === undefined ? undefined : toNumber(found.id)
  }

  /** What was found earlier is looked up again by its path. */
  async function presentLink(link: Node, ask: Ask): Promise<Node | undefined> {
    const id = link.kind === 'link' ? foundLink.exec(link.to)?.[1] : undefined
    if (id === undefined) return link
    const present = await roots.present(id as ProjectId, ask)
    return present === undefined ? undefined : toNumber(present)
  }

  async function listBelow(user: string, ask: Ask): Promise<readonly Dentry[]> {
    const top = await roots.top(ask)
    if (top.form === 'one' ? top.user === user : top.users.includes(user)) {
      const own = top.form === 'one' ? await projects.children(top.id, ask) : await projects.listTop(ask)
      return own.map(({ name }) => ({ name, node: { kind: 'link', to: `../../projects/${name}` } }))
    }
    const root = await roots.userRoot(user, ask)
    const found = root === undefined ? roots.foundBelow(user) : (await catalog.children(root, ask)).projects
    return dentries(nameFound(found)).map(({ name, node }) => ({
      name,
      node: node.kind === 'project' ? toNumber(node.id) : node,
    }))
  }

  return {
    list: async ask =>
      (await roots.users(ask)).map(name => ({ name: escapeTitle(name), node: { kind: 'user', name } })),
    lookup,
    listBelow,
    lookupBelow,
  }
}

const foundLink = /^\.\.\/\.\.\/by-id\/project\/(\d+)$/

const toNumber = (id: string): Node => ({ kind: 'link', to: `../../by-id/project/${id}` })
