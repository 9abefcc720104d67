// From a path of the kernel to what the drive has there: the node, the record even while its file is away, a place for scratch.
import { Failure } from '../failure.js'
import type { Ask } from '../remote/remote.js'
import { type DirectoryNode, keyOf, type Node, type RecordNode, type ScratchPlace } from './node.js'
import type { Records } from './records.js'
import { isScratchAmong, isScratchBeside } from './scratch-name.js'
import { scratchDirectory, type Tree } from './tree.js'

export interface Places {
  /** What is there; Failure 'absent' also for a record whose file was taken away a moment ago. */
  node(path: string, ask: Ask): Promise<Node>
  /** The record at a path, also while its file is away; undefined for anything else. */
  record(path: string, ask: Ask): Promise<RecordNode | undefined>
  /** Where an editor's own file of this name would lie; undefined where none may be. */
  scratch(path: string, ask: Ask): Promise<ScratchPlace | undefined>
}

export function openPlaces(tree: Tree, records: Records): Places {
  async function node(path: string, ask: Ask): Promise<Node> {
    const found = await tree.walk(path, ask)
    if (found.kind !== 'record' || !records.isAway(keyOf(found))) return found
    throw new Failure('absent', `${path}: it was just taken away`)
  }

  async function record(path: string, ask: Ask): Promise<RecordNode | undefined> {
    try {
      const found = await tree.walk(path, ask)
      return found.kind === 'record' ? found : undefined
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'absent') return undefined
      throw thrown
    }
  }

  async function scratch(path: string, ask: Ask): Promise<ScratchPlace | undefined> {
    const directory = await tree.directory(parentOf(path), ask)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const beside = scratchDirectory(directory)
    return beside !== undefined && takesScratch(directory, name) ? { directory: beside, name } : undefined
  }

  return { node, record, scratch }
}

/** The directory a path lies in; the root lies in itself. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Which directories take an editor's own files, and under which names. */
function takesScratch(directory: DirectoryNode, name: string): boolean {
  switch (directory.kind) {
    case 'project':
      return isScratchBeside('.project.json', name)
    case 'calculation':
      return isScratchBeside('.calculation.json', name)
    case 'report':
      return isScratchBeside('order.txt', name)
    case 'reports':
    case 'shares':
      return isScratchAmong(name)
    default:
      return false
  }
}
