// The names under which this mount has made or renamed things: they answer at once and for its life, whatever the service made of them.
import type { Ledger } from '../cache/ledger.js'
import { idForm, type ProjectId } from '../remote/remote.js'
import type { Node } from './node.js'

export type Named = Extract<Node, { kind: 'project' | 'calculation' }>

export interface WrittenNames {
  /** The child of a project under a name that was written here; a name that the service lists goes before. */
  find(parent: ProjectId, name: string): Named | undefined
  add(parent: ProjectId, name: string, node: Named): void
  drop(parent: ProjectId, name: string): void
  /** Whether this mount has made the project, in this life or an earlier one. */
  hasMade(id: ProjectId): boolean
  made(id: ProjectId): void
  gone(id: ProjectId): void
}

/** What was made by the mount at this mount point is kept over restarts: `rmdir` may take it away again. */
export function openWrittenNames(ledger: Ledger, mountPoint: string): WrittenNames {
  const names = new Map<string, Named>()
  const room = `made ${mountPoint}`
  const keyOf = (parent: ProjectId, name: string): string => `${parent}/${name}`
  return {
    find: (parent, name) => names.get(keyOf(parent, name)),
    add: (parent, name, node) => names.set(keyOf(parent, name), node),
    drop: (parent, name) => names.delete(keyOf(parent, name)),
    hasMade: id => idForm.test(id) && ledger.get(room, id) !== undefined,
    made(id) {
      ledger.set(room, id, '')
      ledger.flush()
    },
    gone: id => ledger.delete(room, id),
  }
}
