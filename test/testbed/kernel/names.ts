// Paths as a kernel walks them: what it knows of a name counts for as long as it was told, and each directory on the way is asked whether it is still one.
import { dirname, join, normalize } from 'node:path'
import { opcodes } from '../../../src/kernel/protocol.js'
import { attributesIn, Errno, entryAt, isErrno, type KernelStat, text, words } from './bytes.js'
import type { KernelDevice } from './device.js'
import { type KernelNode, kindOf } from './nodes.js'

export interface Place {
  readonly parent: KernelNode
  readonly name: string
  readonly node: KernelNode | undefined
}

const linksAtMost = 40
const nameAtMost = 1024
const withHandle = 1 // FUSE_GETATTR_FH

export class KernelNames {
  readonly #device: KernelDevice
  readonly #now: () => number

  constructor(device: KernelDevice, now: () => number) {
    this.#device = device
    this.#now = now
  }

  async fresh(node: KernelNode, handle?: { readonly number: number }): Promise<KernelStat> {
    if (this.#now() >= node.until) {
      const body = handle === undefined ? words(0, 0) : words(withHandle, handle.number)
      this.#device.nodes.learn(node, attributesIn(await this.#device.ask(opcodes.getattr, node.id, body)))
    }
    return node.stat
  }

  async #lookup(parent: KernelNode, name: string): Promise<KernelNode | undefined> {
    try {
      const entry = entryAt(await this.#device.ask(opcodes.lookup, parent.id, text(name)))
      if (entry.node !== 0) return this.#device.nodes.enter(parent, name, entry)
    } catch (thrown) {
      if (!isErrno(thrown, 'ENOENT')) throw thrown
    }
    this.#device.nodes.drop(parent, name)
    return undefined
  }

  async #child(parent: KernelNode, name: string, again: boolean): Promise<KernelNode | undefined> {
    if (kindOf(parent) !== 'directory') throw new Errno('ENOTDIR', name)
    if (Buffer.byteLength(name) > nameAtMost) throw new Errno('ENAMETOOLONG', name)
    // Whether the program may look is asked of the directory (default_permissions).
    await this.fresh(parent)
    const known = parent.names.get(name)
    if (known !== undefined && !again && this.#now() < known.until) return known.node
    const found = await this.#lookup(parent, name)
    // A name that was something else is looked up as a new one.
    return known === undefined || found === undefined || found === known.node
      ? found
      : this.#lookup(parent, name)
  }

  /** Links on the way are followed; the last part is or not, as the call wants. */
  async walk(given: string, last: 'follow' | 'keep', again: boolean, depth = 0): Promise<Place> {
    if (depth > linksAtMost) throw new Errno('ELOOP', given)
    const path = normalize(`/${given}`).replace(/(.)\/$/, '$1')
    const parts = path.split('/').filter(part => part !== '')
    let place: Place = { parent: this.#device.nodes.root, name: '', node: this.#device.nodes.root }
    for (const [at, name] of parts.entries()) {
      const parent = place.node
      if (parent === undefined) throw new Errno('ENOENT', given)
      const node = await this.#child(parent, name, again)
      place = { parent, name, node }
      if (node === undefined || kindOf(node) !== 'link') continue
      if (at === parts.length - 1 && last === 'keep') break
      const to = (await this.#device.ask(opcodes.readlink, node.id)).toString()
      const here = `/${parts.slice(0, at + 1).join('/')}`
      return this.walk(join(dirname(here), to, ...parts.slice(at + 1)), last, again, depth + 1)
    }
    return place
  }

  async there(given: string, last: 'follow' | 'keep', again: boolean): Promise<KernelNode> {
    const { node } = await this.walk(given, last, again)
    if (node === undefined) throw new Errno('ENOENT', given)
    return node
  }
}
