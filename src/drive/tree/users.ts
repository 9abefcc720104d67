// Tree below db/: links, so that a path pasted from the platform's web pages works here, also a colleague's.
import { asFailure, isAbsent } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import type { RequestContext } from '../../remote/remote.js'
import type { FoundProject } from '../names/roots.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import { type Dentry, generatedEntry, type Node, nodeIn } from '../nodes/node.js'
import type { DirectoryKinds, TreeSources } from './directory-kind.js'
import { nameFoundProjects } from './projects.js'

/** How to find what others share: no list of the service has it. */
const readme = generatedEntry(fixedNames.readme, 'users-readme')

export function openUserKinds(
  { catalog, roots }: TreeSources,
  { top }: Pick<DirectoryKinds, 'top'>,
): Pick<DirectoryKinds, 'users' | 'user'> {
  /**
   * Any name may be a colleague's: the service answers for `/db/<user>` only where it gives that space an id and the
   * caller a right to it, while a shared project below resolves. So every name is a folder, like an automount point.
   */
  function lookup(name: string): Node | undefined {
    if (name === readme.name) return readme.node
    return name.startsWith('.') ? undefined : { kind: 'user', name: titleOf(name) }
  }

  /** A pasted name is a title as it is; one that was completed by a shell is a file name. */
  async function lookupBelow(user: string, name: string, context: RequestContext): Promise<Node | undefined> {
    const own = await listOwn(user, context)
    const link = own && (nodeIn(own, name) ?? nodeIn(own, escapeTitle(name)))
    if (link !== undefined) return link
    const below = own === undefined ? nameFoundProjects(await knownBelow(user, context)) : undefined
    const known = below?.get(name) ?? below?.get(escapeTitle(name))
    // A project found earlier is looked up again by its path.
    const find = (title: string) => roots.find(user, title, context)
    const id = known
      ? await roots.present(known, context)
      : ((await find(name)) ?? (await find(titleOf(name))))?.id
    return id && linkToProject(id)
  }

  async function listBelow(user: string, context: RequestContext): Promise<readonly Dentry[]> {
    const own = await listOwn(user, context)
    if (own !== undefined) return own
    const found = nameFoundProjects(await projectsBelow(user, context))
    return [...found].map(([name, { id }]) => ({ name, node: linkToProject(id) }))
  }

  /** Of the space that `projects/` shows; undefined for any other. */
  async function listOwn(user: string, context: RequestContext): Promise<readonly Dentry[] | undefined> {
    const shown = await roots.top(context)
    if (shown.form === 'one' ? shown.user !== user : !shown.users.includes(user)) return undefined
    return (await top.list({ kind: 'top' }, context))
      .filter(({ node }) => node.kind === 'project' || node.kind === 'calculation')
      .map(({ name }) => ({ name, node: { kind: 'link', to: `../../projects/${name}` } }))
  }

  async function projectsBelow(user: string, context: RequestContext): Promise<readonly FoundProject[]> {
    const root = await roots.userRoot(user, context)
    return root === undefined ? roots.foundBelow(user) : (await catalog.children(root).ask(context)).projects
  }

  /** A project that is shared is found by its path, whatever can be told of the space it lies in. */
  async function knownBelow(user: string, context: RequestContext): Promise<readonly FoundProject[]> {
    try {
      return await projectsBelow(user, context)
    } catch (thrown) {
      if (!isAbsent(thrown) && asFailure(thrown).kind !== 'in-doubt') throw thrown
      return roots.foundBelow(user)
    }
  }

  return {
    users: {
      async list(_, context) {
        const found = await roots.users(context)
        return [
          readme,
          ...found.map(name => ({ name: escapeTitle(name), node: { kind: 'user', name } as const })),
        ]
      },
      lookup: (_, name) => lookup(name),
    },
    user: {
      list: ({ name }, context) => listBelow(name, context),
      lookup: (user, name, context) => lookupBelow(user.name, name, context),
    },
  }
}

const linkToProject = (id: string): Node => ({ kind: 'link', to: `../../by-id/project/${id}` })
