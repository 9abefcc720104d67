// All control operations of one drive; those of the kept contents, pins among them, stand here.
import { shellWord } from '../../advice.js'
import { Failure } from '../../failure.js'
import { dueIn } from '../../remote/clock.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult, Control } from '../interface/control.js'
import { type Node, nodeKey } from '../nodes/node.js'
import { isWalked, type PinTarget } from '../pins/subtree.js'
import { openDeleteControl } from './deletes.js'
import { openDraftControl } from './drafts.js'
import { openHistoryControl } from './history.js'
import { openInfoControl } from './info.js'
import { nodeAt } from './path-node.js'
import { openReportControl } from './reports.js'
import { openPathControl } from './why-refresh.js'

export function openControl(given: Omit<ControlParts, 'until'>): Control {
  const { cacheDirectory, clock, content, deadlines, pins, status, watch } = given
  const until = {
    metadata: () => dueIn(deadlines.metadata, clock),
    save: () => dueIn(deadlines.save, clock),
  }
  const parts = { ...given, until }
  return {
    places: () => parts.placeTroubles(),
    status: ({ check }) => status(check),
    ...openPathControl(parts),
    ...told(parts, {
      ...openDraftControl(parts),
      ...openReportControl(parts),
      ...openDeleteControl(parts),
      ...openHistoryControl(parts),
    }),
    ...openPinControl(parts),
    ...openInfoControl(parts),
    ...watch,
    async cacheInfo() {
      // The table may have to be made again.
      await content.maintenance.tend()
      const { files, bytes, limitBytes, downloads } = content.stats()
      return { directory: cacheDirectory, files, bytes, limitBytes, downloads }
    },
    async cacheClear() {
      let pinned = 0
      const gone = await content.clear(name => {
        const isPinned = pins.store.names().has(name)
        if (isPinned) pinned += 1
        return !isPinned
      })
      return { ...gone, pinned }
    },
    cacheVerify: () => content.maintenance.scrub(),
  }
}

/** The same operations; when one ends, the kernel knows of what it has changed. */
function told<Calls extends Partial<Control>>({ news }: ControlParts, calls: Calls): Calls {
  const wrapped = Object.entries(calls).map(([name, call]) => [
    name,
    (asked: never) => (call as (asked: never) => Promise<unknown>)(asked).finally(() => news.tell('all')),
  ])
  return Object.fromEntries(wrapped) as Calls
}

/** Contents that are kept whole on this disk, and how much of them is here. */
function openPinControl({ pins, tree, until }: ControlParts) {
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
        : `it is kept with ${cover.path}: \`calcfs unpin ${shellWord(cover.path)}\``
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
