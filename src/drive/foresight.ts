// What a user will want next, asked for in the lane of guesses: sizes of a folder he lists, siblings of a walk he has begun.
import type { Catalog } from '../cache/catalog.js'
import type { ContentCache } from '../cache/content.js'
import { ignoreGuess } from '../cache/memory.js'
import { type Ask, type Instant, instant } from '../remote/remote.js'
import type { Dentry, DirectoryNode, Node } from './node.js'

export interface Foresight {
  /** A directory was listed; `path` is its place on the drive. */
  listed(path: string, directory: DirectoryNode, entries: readonly Dentry[]): void
}

/** A walk through the children of one directory. */
interface Walk {
  readonly children: readonly string[]
  readonly nodes: ReadonlyMap<string, Node>
  readonly entered: Set<string>
  /** How many children ahead are asked for; doubles with every further child entered in order. */
  reach: number
  asked: number
}

const walksAtMost = 256
const reachAtMost = 64
const patienceMs = 30_000

export function openForesight(catalog: Catalog, content: ContentCache, now: () => Instant): Foresight {
  // Insertion order is age: the oldest walk is forgotten first.
  const walks = new Map<string, Walk>()
  const guess = (): Ask => ({ deadline: instant(now() + patienceMs), lane: 'guess' })

  function sizes(nodes: readonly Node[]): void {
    for (const node of nodes) {
      // A geometry has no size without being made: it is asked for when somebody looks at it.
      if (node.kind === 'content' && node.content.of === 'file')
        content.size(node.content, guess()).catch(ignoreGuess)
    }
  }

  function begin(path: string, entries: readonly Dentry[]): void {
    const children = entries.filter(({ node }) => node.kind === 'project' || node.kind === 'calculation')
    if (children.length < 2) return
    const oldest = walks.keys().next()
    if (walks.size >= walksAtMost && !oldest.done) walks.delete(oldest.value)
    const nodes = new Map(children.map(({ name, node }) => [name, node]))
    walks.set(path, { children: [...nodes.keys()], nodes, entered: new Set(), reach: 1, asked: 0 })
  }

  /** The first child entered says nothing: a file manager opens one folder, some list it twice. A second one is a walk. */
  function enter(path: string): void {
    const cut = path.lastIndexOf('/')
    const walk = walks.get(path.slice(0, cut))
    if (walk === undefined) return
    const name = path.slice(cut + 1)
    const here = walk.children.indexOf(name)
    if (here < 0 || walk.entered.has(name)) return
    walk.entered.add(name)
    if (walk.entered.size < 2) return
    walk.reach = Math.min(walk.reach * 2, reachAtMost)
    const end = Math.min(here + 1 + walk.reach, walk.children.length)
    for (let at = Math.max(here + 1, walk.asked); at < end; at += 1) {
      const node = walk.nodes.get(walk.children[at] ?? '')
      if (node !== undefined) askAhead(node)
    }
    walk.asked = Math.max(walk.asked, end)
  }

  function askAhead(node: Node): void {
    if (node.kind === 'project') catalog.children(node.id, guess()).catch(ignoreGuess)
    if (node.kind !== 'calculation') return
    catalog
      .files(node.id, guess())
      .then(titles =>
        sizes(
          titles.map(title => ({ kind: 'content', content: { of: 'file', calculation: node.id, title } })),
        ),
      )
      .catch(ignoreGuess)
  }

  return {
    listed(path, directory, entries) {
      enter(path)
      if (directory.kind === 'calculation') sizes(entries.map(({ node }) => node))
      else begin(path, entries)
    },
  }
}
