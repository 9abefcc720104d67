// Name aliases: the names under which this mount has made or renamed things answer at once, however the service spells them.
import { LRUCache } from 'lru-cache'
import type { Ledger } from '../../cache/ledger/ledger.js'
import { type Instant, idForm, type ProjectId } from '../../remote/remote.js'
import { isSameName } from '../../spelling.js'
import { type Node, nodeKey } from '../nodes/node.js'

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
  /** In the place of the names that were written for it before. `title` is the one that it had until then. */
  add(parent: ProjectId, name: string, node: NamedNode, title?: string): void
  /** Whether a listing that tells this title may be from before the name was written here: one of the service's may be late. */
  mayBeLate(parent: ProjectId, name: string, listed: string): boolean
  /** A name that a save has changed: an editor at work there goes on by it, for as long as it comes back. A new thing may have it. */
  addFormer(parent: ProjectId, name: string, node: NamedNode): void
  /** A program has come back to something below this name: a former one answers longer. */
  used(parent: ProjectId, name: string): void
  isFormer(parent: ProjectId, name: string): boolean
  drop(parent: ProjectId, name: string): void
  /** Whether this mount has made the project, in this life or an earlier one. */
  hasMade(id: ProjectId): boolean
  made(id: ProjectId): void
  gone(id: ProjectId): void
  /** The id stands for another thing now: no name that was written here leads to it, and it was not made here. */
  forget(kind: NamedNode['kind'], id: NamedNode['id']): void
}

/** Milliseconds for which an editor may do nothing below a name that it has changed, and still be at work there, and a listing be late. */
const atWorkMs = 600_000

interface FormerName {
  readonly node: NamedNode
  /** When a program was at work there last. */
  readonly used: Instant
}

/** The titles that a thing had before it was renamed here. */
interface TitlesBefore {
  readonly titles: readonly string[]
  /** When the last one was given up. */
  readonly until: Instant
}

const rememberedThings = 1000

/** What was made by the mount at this mount point is kept over restarts: `rmdir` may take it away again. */
export function openNameAliases(ledger: Ledger, mountPoint: string, now: () => Instant): NameAliases {
  const names = new Map<string, NamedNode>()
  const before = new LRUCache<string, TitlesBefore>({ max: rememberedThings })
  const former = new Map<string, FormerName>()
  const room = `made ${mountPoint}`
  const keyOf = (parent: ProjectId, name: string): string => `${parent}/${name}`

  /** The names that were written for it lead to it no more. */
  function takeNames({ kind, id }: Pick<NamedNode, 'kind' | 'id'>): string[] {
    const keys = [...names].filter(([, node]) => node.kind === kind && node.id === id).map(([key]) => key)
    for (const key of keys) names.delete(key)
    return keys
  }

  /** Those of the last minutes: a listing may be later than several renames. */
  function titlesBefore(node: NamedNode): readonly string[] {
    const known = before.get(nodeKey(node))
    return known !== undefined && isRecent(known.until) ? known.titles : []
  }

  /** A clock that was set back keeps nothing. */
  function isRecent(at: Instant): boolean {
    const passed = now() - at
    return passed >= 0 && passed < atWorkMs
  }

  function formerNode(key: string): NamedNode | undefined {
    const known = former.get(key)
    if (known === undefined) return undefined
    if (isRecent(known.used)) return known.node
    former.delete(key)
    return undefined
  }

  return {
    find: (parent, name) => names.get(keyOf(parent, name)) ?? formerNode(keyOf(parent, name)),
    mayBeLate(parent, name, listed) {
      const node = names.get(keyOf(parent, name))
      return node !== undefined && titlesBefore(node).some(title => isSameName(title, listed))
    },
    add(parent, name, node, title) {
      former.delete(keyOf(parent, name))
      takeNames(node)
      names.set(keyOf(parent, name), node)
      if (title !== undefined)
        before.set(nodeKey(node), { titles: [...titlesBefore(node), title], until: now() })
    },
    addFormer(parent, name, node) {
      // Those under which it was written before say the title of before as well.
      for (const key of [...takeNames(node), keyOf(parent, name)]) former.set(key, { node, used: now() })
    },
    used(parent, name) {
      const node = formerNode(keyOf(parent, name))
      if (node !== undefined) former.set(keyOf(parent, name), { node, used: now() })
    },
    isFormer: (parent, name) =>
      !names.has(keyOf(parent, name)) && formerNode(keyOf(parent, name)) !== undefined,
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
      takeNames({ kind, id })
      before.delete(`${kind} ${id}`)
      for (const [key, { node }] of former) if (node.kind === kind && node.id === id) former.delete(key)
      if (kind === 'project') ledger.delete(room, id)
    },
  }
}
