// The names under which this mount has made or renamed things: they answer at once and for its life, whatever the service made of them.
import type { Ledger } from '../../cache/ledger/ledger.js'
import { type Instant, idForm, type ProjectId } from '../../remote/remote.js'
import type { Node } from '../nodes/node.js'

export type NamedNode = Extract<Node, { kind: 'project' | 'calculation' }>

/** A listed child has its fields from its class: a copy by spreading would take none along. */
export function copyOf(
  node: NamedNode,
  { title, since }: { readonly title?: string; readonly since: Instant | undefined },
): NamedNode {
  const { parent, published, born } = node
  const told = { parent, published, born, since }
  return node.kind === 'project'
    ? { kind: 'project', id: node.id, title: title ?? node.title, ...told }
    : { kind: 'calculation', id: node.id, title: title ?? node.title, ...told }
}

export interface NameAliases {
  /** The child of a project under a name that was written here; a name that the service lists goes before. */
  find(parent: ProjectId, name: string): NamedNode | undefined
  add(parent: ProjectId, name: string, node: NamedNode): void
  /** A name that a save has changed: a program that came by it, an editor at work, goes on by it. A new thing may have it. */
  addFormer(parent: ProjectId, name: string, node: NamedNode): void
  isFormer(parent: ProjectId, name: string): boolean
  drop(parent: ProjectId, name: string): void
  /** Whether this mount has made the project, in this life or an earlier one. */
  hasMade(id: ProjectId): boolean
  made(id: ProjectId): void
  gone(id: ProjectId): void
  /** The id stands for another thing now: no name that was written here leads to it, and it was not made here. */
  forget(kind: NamedNode['kind'], id: NamedNode['id']): void
}

/** What was made by the mount at this mount point is kept over restarts: `rmdir` may take it away again. */
export function openNameAliases(ledger: Ledger, mountPoint: string): NameAliases {
  const names = new Map<string, NamedNode>()
  const former = new Map<string, NamedNode>()
  const room = `made ${mountPoint}`
  const keyOf = (parent: ProjectId, name: string): string => `${parent}/${name}`
  return {
    find: (parent, name) => names.get(keyOf(parent, name)) ?? former.get(keyOf(parent, name)),
    add(parent, name, node) {
      former.delete(keyOf(parent, name))
      names.set(keyOf(parent, name), node)
    },
    addFormer(parent, name, node) {
      // Those under which it was written before say the title of before as well.
      const written = [...names].filter(([, { kind, id }]) => kind === node.kind && id === node.id)
      for (const [key] of written) {
        names.delete(key)
        former.set(key, node)
      }
      former.set(keyOf(parent, name), node)
    },
    isFormer: (parent, name) => former.has(keyOf(parent, name)) && !names.has(keyOf(parent, name)),
    drop(parent, name) {
      former.delete(keyOf(parent, name))
      names.delete(keyOf(parent, name))
    },
    hasMade: id => idForm.test(id) && ledger.get(room, id) !== undefined,
    made(id) {
      ledger.set(room, id, '')
      ledger.flush()
    },
    gone: id => ledger.delete(room, id),
    forget(kind, id) {
      for (const all of [names, former])
        for (const [key, node] of all) if (node.kind === kind && node.id === id) all.delete(key)
      if (kind === 'project') ledger.delete(room, id)
    },
  }
}
