// The memory-backed tree as a drive, so that the session of calcfs serves it: the floor of that way to the kernel.
import type { Attributes } from '../../src/drive/interface/attributes.js'
import type { DirectoryEntry, Drive, Space } from '../../src/drive/interface/verbs.js'
import type { Node } from '../../src/drive/nodes/node.js'
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
      const entries = names.slice(2).map((name, at): DirectoryEntry => {
        const path = `${above === '/' ? '' : above}/${name}`
        const known = (): Attributes => lookup({ parent: directory, name })
        return {
          name,
          mode: stats[at + 2]?.mode ?? 0,
          node: nodeOf(path),
          known,
        }
      })
      return entries
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
const nodeOf = (path: string): Node => ({
  kind: 'content',
  content: { of: 'file', calculation: '1' as CalculationId, title: path as FileTitle },
})

const attributesOf = (path: string, { stat: { mode, size, mtime } }: MemoryNode): Attributes => ({
  mode,
  size,
  mtime: instant(Number(mtime)),
  node: nodeOf(path),
  bytes: 'content',
  until: forEver,
})
