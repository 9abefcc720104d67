// Access pattern: which kinds of files are looked at, opened or read to the end in the folders of a traversal.
import { contentLabel } from '../../content-kinds.js'
import type { Dentry } from '../nodes/node.js'

/** Each includes the one before. */
export type AccessLevel = 'looked' | 'opened' | 'read'

export interface AccessPattern {
  /** Something was done to a file of the folder at this path; whether it is more than was done there to its kind. */
  note(folder: string, kind: string, level: AccessLevel): boolean
  /** The usual use of files of this kind in other folders than the one at this path. */
  usual(kind: string, elsewhere?: string): AccessLevel | undefined
  /** Another number whenever more is usual than before. */
  readonly version: number
}

/** So many folders back count: what was not done in any of them is no habit any more. */
const remembered = 8
const weight: Readonly<Record<AccessLevel, number>> = { looked: 1, opened: 2, read: 3 }

/** True if one level is beyond another one, or beyond nothing. */
export const isMore = (level: AccessLevel, than: AccessLevel | undefined): boolean =>
  than === undefined || weight[level] > weight[than]

export function openAccessPattern(): AccessPattern {
  const folders = new Map<string, Map<string, AccessLevel>>()
  let version = 0

  function usual(kind: string, elsewhere?: string): AccessLevel | undefined {
    let most: AccessLevel | undefined
    for (const [path, deeds] of folders) {
      const level = path === elsewhere ? undefined : deeds.get(kind)
      if (level !== undefined && isMore(level, most)) most = level
    }
    return most
  }

  return {
    note(folder, kind, level) {
      if (isMore(level, usual(kind))) version += 1
      const here = folders.get(folder) ?? new Map<string, AccessLevel>()
      if (!folders.has(folder)) {
        folders.set(folder, here)
        for (const oldest of folders.keys()) {
          if (folders.size <= remembered) break
          folders.delete(oldest)
        }
      }
      const isNews = isMore(level, here.get(kind))
      if (isNews) here.set(kind, level)
      return isNews
    },
    usual,
    get version() {
      return version
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
