// Node of a path that a command names: links are followed, and what is known is found without a request.
import { posix } from 'node:path'
import { Failure } from '../../failure.js'
import type { RequestContext } from '../../remote/remote.js'
import { isDirectory, type Node, nodeIn } from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'

/** A node, and the path at which it was found once all links were followed. */
export interface FoundNode {
  readonly path: string
  readonly node: Node
}

/** A chain of more links than this leads nowhere. */
const linksAtMost = 16

/** @throws Failure 'absent' */
export async function nodeAt(tree: Tree, path: string, context: RequestContext): Promise<FoundNode> {
  let at = withoutEnd(path)
  for (let links = 0; links < linksAtMost; links += 1) {
    const node = knownAt(tree, at) ?? (await tree.walk(at, context))
    if (node.kind !== 'link') return { path: at, node }
    at = posix.resolve(posix.dirname(at), node.to)
  }
  throw new Failure('absent', `${path}: its links lead nowhere`)
}

/** What the listings said when they were asked for last. */
function knownAt(tree: Tree, path: string): Node | undefined {
  let node: Node | undefined = { kind: 'root' }
  for (const name of path.split('/').filter(one => one !== '')) {
    const entries: ReturnType<Tree['listKnown']> =
      node !== undefined && isDirectory(node) ? tree.listKnown(node) : undefined
    node = entries && nodeIn(entries, name)
    if (node === undefined) return undefined
  }
  return node
}

const withoutEnd = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path)
