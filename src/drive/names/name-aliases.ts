// Name aliases: the names under which this mount has made or renamed things answer at once, however the service spells them.
import type { Ledger } from '../../cache/ledger/ledger.js'
import { idForm, type ProjectId } from '../../remote/remote.js'
import { isSameName } from '../../spelling.js'
import type { Node } from '../nodes/node.js'

export type NamedNode = Extract<Node, { kind: 'project' | 'calculation' }>

interface WrittenName {
  readonly node: NamedNode
  /** The names that a listing may give it: its title, and those of before this mount renamed it. */
  readonly titles: readonly string[]
}

/** A listing is late by one or two of them. */
const titlesAtMost = 16

/** Projects made at this mount point are kept over restarts: `rmdir` may take them away again. */
export function openNameAliases(ledger: Ledger, mountPoint: string) {
  const names = new Map<string, WrittenName>()
  const room = `made ${mountPoint}`
  const keyOf = (parent: ProjectId, name: string): string => `${parent}/${name}`

  /** The names that were written for it lead to it no more. @returns what a listing may have called it by them */
  function takeNames({ kind, id }: Pick<NamedNode, 'kind' | 'id'>): readonly string[] {
    const taken = [...names].filter(([, { node }]) => node.kind === kind && node.id === id)
    for (const [key] of taken) names.delete(key)
    return taken.flatMap(([, { titles }]) => titles)
  }

  return {
    /**
     * The child of a project that has this name since it was written here, and is listed under another one: as the service spells
     * it, or as it was called before, where a listing is late. Once another client has renamed it the name is free.
     */
    find(
      parent: ProjectId,
      name: string,
      listedAs: (node: NamedNode) => string | undefined,
    ): NamedNode | undefined {
      const written = names.get(keyOf(parent, name))
      const listed = written && listedAs(written.node)
      if (written === undefined || listed === undefined) return undefined
      return written.titles.some(title => isSameName(title, listed)) ? written.node : undefined
    },
    /** In the place of the names that were written for it before. `before` is the title that it had until then. */
    add(parent: ProjectId, name: string, node: NamedNode, before?: string): void {
      const titles = new Set([node.title, before, ...takeNames(node)].filter(title => title !== undefined))
      names.set(keyOf(parent, name), { node, titles: [...titles].slice(0, titlesAtMost) })
    },
    drop(parent: ProjectId, name: string): void {
      names.delete(keyOf(parent, name))
    },
    /** True if the mount at this mount point has made the project, in this life or an earlier one. */
    hasMade: (id: ProjectId): boolean => idForm.test(id) && ledger.get(room, id) !== undefined,
    made(id: ProjectId): void {
      ledger.set(room, id, '')
      ledger.flush()
    },
    gone: (id: ProjectId): void => ledger.delete(room, id),
    /** The id stands for another thing now: no name that was written here leads to it, and it was not made here. */
    forget(kind: NamedNode['kind'], id: NamedNode['id']): void {
      takeNames({ kind, id })
      if (kind === 'project') ledger.delete(room, id)
    },
  }
}

export type NameAliases = ReturnType<typeof openNameAliases>
