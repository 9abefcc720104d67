// Prefetcher: predicts the next questions from the pattern of calls, and asks them at the lowest priority; never the whole tree.
import { LRUCache } from 'lru-cache'
import type { ContentCache } from '../../cache/content/content.js'
import type { Catalog, Readable } from '../../cache/metadata/catalog.js'
import { Failure } from '../../failure.js'
import { lastNameOf, parentOf } from '../../layout.js'
import { type Clock, dueIn } from '../../remote/clock.js'
import { instant } from '../../remote/remote.js'
import type { ContentNode, Dentry, DirectoryNode, Node, RecordNode } from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'
import { type AccessLevel, AccessPattern, fileClassOf } from './access-pattern.js'
import { type AskedHow, ContentPrefetch } from './content-prefetch.js'
import { ListedDirectory } from './listed-directory.js'
import { PrefetchQueue } from './queue.js'
import { SiblingPrefetch } from './siblings.js'
import { Walks } from './walks.js'

export interface PrefetcherPorts {
  readonly catalog: Catalog
  readonly content: Pick<ContentCache, 'size' | 'prefetch' | 'isKept' | 'knownSize'>
  readonly tree: Pick<Tree, 'list' | 'directory'>
  readonly room: () => number
  /** Grows with each question that what is kept does not answer. */
  readonly missed: () => number
  readonly cacheBytes: number
  /** How many names of listed folders may be remembered in all. */
  readonly names: number
  readonly clock: Clock
}

/** A walk keeps the folders that it has not come to yet: one that is forgotten is not listed ahead again. */
const foldersAtMost = 2_048
/** Milliseconds without a step after which the user has left. */
const leftAfterMs = 2_000
/** So many calls in a row that asked nothing make foresight sleep until the next question. */
const awakeForCalls = 200
/** A known answer is told at once. */
const momentMs = 1_000

/** Fetched ahead, contents take a part of the cache that pushes out nothing of worth, and never more than this. */
const readyAtMost = 64 << 20
const partOfCache = 1 / 4

export function openPrefetcher(ports: PrefetcherPorts) {
  const { catalog, clock, content, tree, room } = ports
  const { now } = clock
  const folders = new LRUCache<string, ListedDirectory>({
    max: foldersAtMost,
    maxSize: ports.names,
    sizeCalculation: ({ entries }) => entries.length + 1,
  })
  const queue = new PrefetchQueue(() => walks.nextTask(), room, now)
  const contentPrefetch = new ContentPrefetch(content, Math.min(readyAtMost, ports.cacheBytes * partOfCache))
  const siblings = new SiblingPrefetch(queue, contentPrefetch, now)
  const walks: Walks = new Walks(
    {
      queue,
      siblings,
      room,
      known: path => folders.get(path),
      list: async (path, node, context) => remember(path, await tree.list(node, context)),
      askFor,
      contents: contentPrefetch,
      now,
    },
    new AccessPattern(),
  )
  let lastFolder = ''
  let isWatched = false
  let missed: number | undefined
  let callsKept = awakeForCalls

  /** While all that programs ask for is kept, there is nothing to ask ahead. What the mount itself has asked is no program's. */
  function isAwake(): boolean {
    const count = ports.missed()
    callsKept = count === (missed ?? count) ? callsKept + 1 : 0
    missed = count
    return callsKept < awakeForCalls
  }

  function remember(path: string, entries: readonly Dentry[]): ListedDirectory {
    const before = folders.get(path)
    // A walk keeps the folder that it goes through beside the ones that it enters; a longer one is known by its path only.
    const kept = entries.length < ports.names / 2 ? entries : []
    if (before?.shows(kept)) return before
    const folder = new ListedDirectory(path, kept)
    folders.set(path, folder)
    return folder
  }

  async function askFor(path: string, node: Node, how: AskedHow): Promise<unknown> {
    switch (node.kind) {
      case 'content':
        return contentPrefetch.take(path, node, how)
      case 'shares':
        return catalog.shares(node.project).ask(how.context)
      case 'record':
        return node.of === 'project' || node.of === 'calculation'
          ? catalog.record({ kind: node.of, id: node.id } as Readable).ask(how.context)
          : undefined
      default:
        return undefined
    }
  }

  function enter(path: string): void {
    if (!isWatched) watch()
    lastFolder = path
    const above = folders.get(parentOf(path))
    if (above !== undefined) walks.step(path)
    else void recall(path)
  }

  /** A directory that was listed before: the way to a file in it led through its listing, so that no request is needed. */
  async function recall(path: string): Promise<void> {
    const context = dueIn(momentMs, clock, 'guess')
    const above = parentOf(path)
    try {
      const node = await tree.directory(above, context)
      if (node.kind !== 'project' || catalog.children(node.id).known() === undefined) return
      remember(above, await tree.list(node, context))
      walks.step(path)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
  }

  function watch(): void {
    isWatched = true
    clock.after(leftAfterMs, lookAround, 'in-background')
  }

  function lookAround(): void {
    isWatched = false
    lastFolder = ''
    const since = instant(now() - leftAfterMs)
    const isUsed = siblings.leftSince(since)
    const { isUnderWay, isKnown } = walks.leftSince(since)
    if (!isUsed && !isUnderWay) queue.rest()
    if (isUsed || isKnown) watch()
    else contentPrefetch.clear()
  }

  function use(path: string, node: Node, level: AccessLevel): ListedDirectory | undefined {
    const folder = parentOf(path)
    if (folder !== lastFolder) enter(folder)
    const kind = fileClassOf({ name: lastNameOf(path), node })
    if (kind !== undefined) walks.note(folder, kind, level)
    return folders.get(folder)
  }

  return {
    listed(path: string, directory: DirectoryNode, entries: readonly Dentry[]): void {
      remember(path, entries)
      if (directory.kind === 'calculation') siblings.listed(path)
      if (!isAwake()) return
      if (directory.kind === 'shares') walks.note(parentOf(path), 'shares', 'opened')
      else enter(path)
    },
    looked(path: string, node: ContentNode | RecordNode): void {
      if (!isAwake()) return
      const folder = use(path, node, 'looked')
      if (folder !== undefined)
        siblings.looked(folder, lastNameOf(path), file => walks.foresees(folder.path, file))
    },
    opened(path: string, node: Node): void {
      if (node.kind !== 'content' || !isAwake()) return
      const folder = use(path, node, 'opened')
      if (contentPrefetch.opened(path, node)) queue.nudge()
      if (folder !== undefined) siblings.opened(folder, lastNameOf(path))
    },
    /** It is read on beyond its beginning, or to its end. */
    readOn(path: string, node: Node): void {
      if (node.kind !== 'content' || !isAwake()) return
      const folder = use(path, node, 'read')
      if (folder !== undefined) siblings.readOn(folder)
    },
  }
}

export type Prefetcher = ReturnType<typeof openPrefetcher>
