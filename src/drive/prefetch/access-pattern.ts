// What a user does in the folders he walks through: which kinds of files he looks at, opens, or reads to the end.
import type { Dentry } from '../nodes/node.js'

/** Each includes the one before. */
export type Deed = 'looked' | 'opened' | 'read'

export interface Habits {
  /** Something was done to a file of the folder at this path. */
  note(folder: string, kind: string, deed: Deed): void
  /** What is usually done to files of this kind. */
  usual(kind: string): Deed | undefined
  /** Habits of his own for somebody who comes from this folder. */
  from(folder: string): Habits
}

/** So many folders back count: what was not done in any of them is no habit any more. */
const remembered = 4
const weight: Readonly<Record<Deed, number>> = { looked: 1, opened: 2, read: 3 }

export function openHabits(known: readonly (readonly [string, ReadonlyMap<string, Deed>])[] = []): Habits {
  const folders = new Map(known.map(([path, deeds]) => [path, new Map(deeds)]))

  return {
    note(folder, kind, deed) {
      const here = folders.get(folder) ?? new Map<string, Deed>()
      if (!folders.has(folder)) {
        folders.set(folder, here)
        for (const oldest of folders.keys()) {
          if (folders.size <= remembered) break
          folders.delete(oldest)
        }
      }
      const known = here.get(kind)
      if (known === undefined || weight[deed] > weight[known]) here.set(kind, deed)
    },
    usual(kind) {
      let most: Deed | undefined
      for (const deeds of folders.values()) {
        const deed = deeds.get(kind)
        if (deed !== undefined && (most === undefined || weight[deed] > weight[most])) most = deed
      }
      return most
    },
    from(folder) {
      const here = folders.get(folder)
      return openHabits(here === undefined ? [] : [[folder, here]])
    },
  }
}

/** Files that are treated alike: those with one ending, the geometries, the records; undefined for what costs nothing. */
export function kindOf({ name, node }: Dentry): string | undefined {
  switch (node.kind) {
    case 'record':
      return node.of === 'calculation' || node.of === 'project' ? `${node.of} record` : undefined
    case 'content':
      return node.content.of === 'xyz' ? 'geometry' : `file ${ending(name)}`
    case 'shares':
      return 'shares'
    default:
      return undefined
  }
}

function ending(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot).toLowerCase()
}
