// Control of pins: what is kept whole on this disk, and how much of it is here.
import { Failure } from '../../failure.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult } from '../interface/control.js'
import { type Node, nodeKey } from '../nodes/node.js'
import { isWalked, type PinTarget } from '../pins/subtree.js'
import { nodeAt } from './path-node.js'

export function openPinControl({ pins, tree, until }: ControlParts) {
  async function targetAt(given: string): Promise<{ path: string; target: PinTarget }> {
    const { path, node } = await nodeAt(tree, given, until.metadata())
    const target = targetOf(node.kind === 'top' ? await tree.directory(path, until.metadata()) : node)
    if (target !== undefined) return { path, target }
    throw new Failure(
      'refused',
      `${given} cannot be pinned: a project, a calculation, a report or a file of a calculation can`,
    )
  }

  /** By the path it was pinned with, which may lead nowhere by now, or by what stands at this path. */
  async function keyOf(given: string): Promise<string> {
    const known = pins.store.list().find(({ path }) => path === given.replace(/\/+$/, ''))
    return known?.key ?? nodeKey((await targetAt(given)).target)
  }

  async function unpin({ path: given }: CallArgument<'unpin'>): Promise<CallResult<'unpin'>> {
    const key = await keyOf(given)
    const gone = pins.unpin(key)
    if (gone !== undefined) return gone
    const { node } = await nodeAt(tree, given, until.metadata())
    const cover = pins.store.coverOf(node)
    const because =
      cover === undefined
        ? '`calcfs pins` lists what is'
        : `it is kept with ${cover.path}: \`calcfs unpin ${cover.path}\``
    throw new Failure('absent', `${given} is not pinned; ${because}`)
  }

  return {
    async pin({ path: given }: CallArgument<'pin'>) {
      const { path, target } = await targetAt(given)
      return pins.pin(path, target)
    },
    unpin,
    pins: async () => pins.reports(),
  }
}

/** A record stands for what it is the record of. */
function targetOf(node: Node): PinTarget | undefined {
  if (node.kind === 'order' || (node.kind === 'record' && node.of === 'report'))
    return { kind: 'report', id: node.id }
  return node.kind === 'content' || isWalked(node) ? node : undefined
}
