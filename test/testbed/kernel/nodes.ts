// What the kernel knows of a drive: its inodes, the names that lead to them, how often each was looked up, and for how long that holds.
import { fileTypes } from '../../../src/drive/interface/attributes.js'
import { rootId } from '../../../src/kernel/protocol.js'
import type { FileKind } from '../testbed.js'
import type { Entry, KernelStat } from './bytes.js'

/** An inode. */
export interface KernelNode {
  readonly id: number
  /** What LOOKUP and its like have given, which FORGET gives back. */
  lookups: number
  /** How many names lead to it. */
  places: number
  handles: number
  stat: KernelStat
  until: number
  readonly names: Map<string, { readonly node: KernelNode; readonly until: number }>
  readonly pages: Map<number, Buffer>
  listing: ReadonlyMap<string, FileKind> | undefined
}

const typeBits = 0o170000

const kinds = new Map<number, FileKind>([
  [fileTypes.directory, 'directory'],
  [fileTypes.link, 'link'],
])
export const kindOfMode = (mode: number): FileKind => kinds.get(mode & typeBits) ?? 'file'
export const kindOf = ({ stat }: Pick<KernelNode, 'stat'>): FileKind => kindOfMode(stat.mode)

export class KernelNodes {
  readonly root: KernelNode
  readonly #byId = new Map<number, KernelNode>()
  readonly #orphans = new Set<KernelNode>()
  readonly #now: () => number
  readonly #fault: (what: string) => never

  /** @param fault is called for what no daemon may answer */
  constructor(now: () => number, fault: (what: string) => never) {
    this.#now = now
    this.#fault = fault
    this.root = this.#nodeOf({ node: rootId, seconds: 0, stat: { mode: 0o040755, size: 0, mtimeMs: 0 } })
  }

  get(id: number): KernelNode | undefined {
    return this.#byId.get(id)
  }

  /** Those that were looked up and not forgotten. */
  get held(): readonly KernelNode[] {
    return [...this.#byId.values()].filter(({ lookups }) => lookups > 0)
  }

  #nodeOf(entry: Pick<Entry, 'node' | 'stat' | 'seconds'>): KernelNode {
    const node = this.#byId.get(entry.node) ?? {
      id: entry.node,
      lookups: 0,
      places: 0,
      handles: 0,
      stat: entry.stat,
      until: 0,
      names: new Map(),
      pages: new Map(),
      listing: undefined,
    }
    this.#byId.set(node.id, node)
    this.learn(node, entry)
    return node
  }

  /** Another size takes the pages away. */
  learn(node: KernelNode, { stat, seconds }: Pick<Entry, 'stat' | 'seconds'>): void {
    if ((stat.mode & typeBits) !== (node.stat.mode & typeBits))
      this.#fault(`node ${node.id} was another kind of file`)
    if (stat.size !== node.stat.size) node.pages.clear()
    node.stat = stat
    node.until = this.#now() + seconds * 1000
  }

  /** One LOOKUP, CREATE, MKDIR or entry of READDIRPLUS. */
  enter(parent: KernelNode, name: string, entry: Entry): KernelNode {
    const node = this.#nodeOf(entry)
    node.lookups += 1
    if (parent.names.get(name)?.node !== node) {
      this.drop(parent, name)
      if (node.places > 0 && kindOf(node) === 'directory')
        this.#fault(`node ${node.id} is ${name}, and a directory elsewhere`)
      node.places += 1
    }
    parent.names.set(name, { node, until: this.#now() + entry.nameSeconds * 1000 })
    return node
  }

  drop(parent: KernelNode, name: string): void {
    const node = parent.names.get(name)?.node
    if (node === undefined) return
    parent.names.delete(name)
    node.places -= 1
    this.#orphans.add(node)
  }

  move(
    from: { readonly parent: KernelNode; readonly name: string },
    to: { readonly parent: KernelNode; readonly name: string },
  ): void {
    const kept = from.parent.names.get(from.name)
    from.parent.names.delete(from.name)
    this.drop(to.parent, to.name)
    if (kept !== undefined) to.parent.names.set(to.name, kept)
  }

  closed(node: KernelNode): void {
    node.handles -= 1
    this.#orphans.add(node)
  }

  /** What no name leads to and no program holds is forgotten: what is below a directory first. */
  forget(tell: (node: KernelNode) => void): void {
    for (const node of this.#orphans) {
      this.#orphans.delete(node)
      if (node.places > 0 || node.handles > 0 || node === this.root) continue
      for (const name of [...node.names.keys()]) this.drop(node, name)
      this.forget(tell)
      this.#byId.delete(node.id)
      tell(node)
    }
  }
}
