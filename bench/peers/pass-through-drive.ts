// The memory-backed tree as a drive, so that the session of calcfs serves it: the floor of that way to the kernel.
import { type Attributes, isDirectoryMode } from '../../src/drive/interface/attributes.js'
import type { Drive, Space } from '../../src/drive/interface/verbs.js'
import type { Dentry, Node } from '../../src/drive/nodes/node.js'
import { type Name, type Place, pathOf } from '../../src/drive/nodes/place.js'
import { Failure } from '../../src/failure.js'
import { type CalculationId, type FileTitle, instant } from '../../src/remote/remote.js'
import { longestStretch, stretch } from '../trees/bytes.js'
import type { MemoryNode, Nodes } from './pass-through-nodes.js'

/** Everything in it stays as it is, for as long as it is mounted. */
const forEver = instant(Number.MAX_SAFE_INTEGER)
const readOnly = async (): Promise<never> => {
  throw new Failure('read-only', 'nothing is changed here')
}

export function memoryDrive(nodes: Nodes, space: Space): Drive {
  const handles = new Map<number, MemoryNode>()
  let last = 0

  function lookup(at: Name | Place): Attributes {
    const path = pathOf(at)
    const found = nodes.at(path)
    if (found === undefined) throw new Failure('absent', `${path}: there is nothing of this name`)
    return attributesOf(path, found)
  }

  return {
    lookup,
    getattr: lookup,
    async readdir(directory) {
      const above = pathOf(directory)
      const { names, stats } = nodes.at(above)?.inside?.() ?? { names: [], stats: [] }
      const entries = names.slice(2).map((name, at): Dentry => {
        const path = `${above === '/' ? '' : above}/${name}`
        return { name, node: nodeOf(path, stats[at + 2]?.mode ?? 0) }
      })
      const known = (node: Node): Attributes | undefined => {
        const path = pathOfNode(node)
        const found = nodes.at(path)
        return found && attributesOf(path, found)
      }
      return { entries, known }
    },
    readlink: () => '',
    statfs: async () => space,
    revision: () => 0,
    getxattr: () => undefined,
    listxattr: () => [],
    open(place) {
      const found = nodes.at(pathOf(place))
      if (found?.source === undefined) throw new Failure('is-directory', 'this is a directory')
      last += 1
      handles.set(last, found)
      return last
    },
    read(handle, target, offset) {
      const source = handles.get(handle)?.source
      if (source === undefined) throw new Failure('bad-handle', 'no file is open under this number')
      return stretch(source, offset, Math.min(target.length, longestStretch)).copy(target)
    },
    release: handle => void handles.delete(handle),
    textOf: () => undefined,
    flush: () => {},
    fsync: async () => {},
    create: readOnly,
    write: readOnly,
    ftruncate: readOnly,
    truncate: readOnly,
    unlink: readOnly,
    rename: readOnly,
    mkdir: readOnly,
    rmdir: readOnly,
    symlink: readOnly,
    link: readOnly,
    mknod: readOnly,
    change: readOnly,
    touch: readOnly,
    setxattr: readOnly,
  }
}

/** Which thing it is, to the session: its path. */
const nodeOf = (path: string, mode: number): Node =>
  isDirectoryMode(mode)
    ? { kind: 'user', name: path }
    : {
        kind: 'content',
        content: { of: 'file', calculation: '1' as CalculationId, title: path as FileTitle },
      }

const pathOfNode = (node: Node): string =>
  node.kind === 'content' ? node.content.title : node.kind === 'user' ? node.name : ''

const attributesOf = (path: string, { stat: { mode, size, mtime } }: MemoryNode): Attributes => ({
  mode,
  size,
  mtime: instant(Number(mtime)),
  node: nodeOf(path, mode),
  bytes: 'content',
  until: forEver,
})
