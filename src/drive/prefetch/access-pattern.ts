// Access pattern: which kinds of files are looked at, opened or read to the end in the folders of a traversal.
import { contentLabel } from '../../content-kinds.js'
import type { Dentry } from '../nodes/node.js'

/** Each includes the one before. */
export type AccessLevel = 'looked' | 'opened' | 'read'

/** So many folders back count: what was not done in any of them is no habit any more. Eight programs may be in as many at a time. */
const remembered = 8
const weight: Readonly<Record<AccessLevel, number>> = { looked: 1, opened: 2, read: 3 }

export const isMore = (level: AccessLevel, than: AccessLevel | undefined): boolean =>
  than === undefined || weight[level] > weight[than]

export class AccessPattern {
  /** The levels of each kind in the folders, the latest last. */
  readonly #folders: { readonly path: string; readonly levels: Map<string, AccessLevel> }[] = []

  /** Something was done to a file of the folder at this path; true if more is usual now. */
  note(folder: string, kind: string, level: AccessLevel): boolean {
    const { levels } = this.#latest(folder)
    if (!isMore(level, levels.get(kind))) return false
    const isNew = isMore(level, this.usual(kind))
    levels.set(kind, level)
    return isNew
  }

  /** The usual use of files of this kind in other folders than the one at this path. */
  usual(kind: string, elsewhere?: string): AccessLevel | undefined {
    let most: AccessLevel | undefined
    for (const { path, levels } of this.#folders) {
      const level = path === elsewhere ? undefined : levels.get(kind)
      if (level !== undefined && isMore(level, most)) most = level
    }
    return most
  }

  #latest(path: string) {
    const last = this.#folders.at(-1)
    if (last?.path === path) return last
    const at = this.#folders.findLastIndex(one => one.path === path)
    const [known] = at === -1 ? [] : this.#folders.splice(at, 1)
    const latest = known ?? { path, levels: new Map<string, AccessLevel>() }
    if (this.#folders.push(latest) > remembered) this.#folders.shift()
    return latest
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
