// Access pattern: which kinds of files are looked at, opened or read to the end in the folders of a traversal.
import { contentLabel } from '../../content-kinds.js'
import type { Dentry } from '../nodes/node.js'

/** Each includes the one before. */
export type AccessLevel = 'looked' | 'opened' | 'read'

export interface AccessPattern {
  /** Something was done to a file of the folder at this path. */
  note(folder: string, kind: string, level: AccessLevel): void
  /** What is usually done to files of this kind. */
  usual(kind: string): AccessLevel | undefined
  /** A pattern of its own for the traversal that comes from this folder. */
  from(folder: string): AccessPattern
}

/** So many folders back count: what was not done in any of them is no habit any more. */
const remembered = 4
const weight: Readonly<Record<AccessLevel, number>> = { looked: 1, opened: 2, read: 3 }

export function openAccessPattern(
  known: readonly (readonly [string, ReadonlyMap<string, AccessLevel>])[] = [],
): AccessPattern {
  const folders = new Map(known.map(([path, deeds]) => [path, new Map(deeds)]))

  return {
    note(folder, kind, level) {
      const here = folders.get(folder) ?? new Map<string, AccessLevel>()
      if (!folders.has(folder)) {
        folders.set(folder, here)
        for (const oldest of folders.keys()) {
          if (folders.size <= remembered) break
          folders.delete(oldest)
        }
      }
      const known = here.get(kind)
      if (known === undefined || weight[level] > weight[known]) here.set(kind, level)
    },
    usual(kind) {
      let most: AccessLevel | undefined
      for (const deeds of folders.values()) {
        const level = deeds.get(kind)
        if (level !== undefined && (most === undefined || weight[level] > weight[most])) most = level
      }
      return most
    },
    from(folder) {
      const here = folders.get(folder)
      return openAccessPattern(here === undefined ? [] : [[folder, here]])
    },
  }
}

/** Files that are treated alike: those with one ending, those the service makes, the records; undefined for what costs nothing. */
export function fileClassOf({ name, node }: Dentry): string | undefined {
  switch (node.kind) {
    case 'record':
      return node.of === 'calculation' || node.of === 'project' ? `${node.of} record` : undefined
    case 'content':
      return node.content.of === 'file' ? `file ${extensionOf(name)}` : contentLabel(node.content.of)
    case 'shares':
      return 'shares'
    default:
      return undefined
  }
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot).toLowerCase()
}
