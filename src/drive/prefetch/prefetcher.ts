// What a user will want next, asked for in the lane of guesses: it reads the pattern of his steps, never the whole tree.
import { LRUCache } from 'lru-cache'
import type { ContentCache } from '../../cache/content/content.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { Failure } from '../../failure.js'
import { type Ask, type Instant, instant } from '../../remote/remote.js'
import type { Dentry, DirectoryNode, Node } from '../nodes/node.js'
import { nameOf, parentOf } from '../tree/path-resolver.js'
import type { Tree } from '../tree/tree.js'
import { type Deed, kindOf } from './access-pattern.js'
import { readAhead } from './content-prefetch.js'
import { type Folder, folderOf, sameFolders } from './cursor.js'
import { openGuesses } from './queue.js'
import { openInFolder } from './siblings.js'
import { openTrails } from './traversal.js'

export interface Foresight {
  /** A directory was listed; `path` is its place on the drive. */
  listed(path: string, directory: DirectoryNode, entries: readonly Dentry[]): void
  /** Somebody asked for the size and time of a file. */
  looked(path: string, node: Node): void
  /** A file was opened for reading. */
  opened(path: string, node: Node): void
  /** It is read on beyond its beginning, or to its end. */
  readOn(path: string, node: Node): void
}

export interface ForesightPorts {
  readonly catalog: Catalog
  readonly content: Pick<ContentCache, 'size' | 'ahead' | 'cached' | 'told'>
  readonly tree: Pick<Tree, 'list' | 'directory'>
  /** How many guesses may be under way side by side, now. */
  readonly room: () => number
  /** What kept contents may take on the disk, in bytes. */
  readonly cacheBytes: number
  readonly now: () => Instant
}

const foldersAtMost = 1024
/** Milliseconds without a step after which the user has left. */
const leftAfterMs = 2_000
/** What is known is told at once. */
const momentMs = 1_000

/** Fetched ahead, contents take a part of the cache that pushes out nothing of worth, and never more than this. */
const readyAtMost = 64 << 20
const partOfCache = 1 / 4

export function openForesight(ports: ForesightPorts): Foresight {
  const { catalog, content, tree, room, now } = ports
  const folders = new LRUCache<string, Folder>({ max: foldersAtMost })
  const guesses = openGuesses(room, now)
  const ahead = readAhead(content, Math.min(readyAtMost, ports.cacheBytes * partOfCache))
  const inFolder = openInFolder(guesses, ahead, now)
  const trails = openTrails({
    guesses,
    known: path => folders.get(path),
    list: async (path, node, ask) => remember(path, node, await tree.list(node, ask)),
    askFor,
    full: ahead.full,
    now,
  })
  let lastFolder = ''
  let watch: NodeJS.Timeout | undefined

  function remember(path: string, node: DirectoryNode, entries: readonly Dentry[]): Folder {
    const before = folders.get(path)
    if (before !== undefined && sameFolders(before, entries)) return before
    const folder = folderOf(path, node, entries)
    folders.set(path, folder)
    return folder
  }

  async function askFor(
    path: string,
    node: Node,
    how: { readonly deed: Deed; readonly ask: Ask; readonly signal: AbortSignal },
  ): Promise<unknown> {
    switch (node.kind) {
      case 'content':
        return ahead.take(path, node.content, how)
      case 'shares':
        return catalog.shares(node.project, how.ask)
      case 'record':
        if (node.of === 'project') return catalog.record({ kind: 'project', id: node.id }, how.ask)
        if (node.of === 'calculation') return catalog.record({ kind: 'calculation', id: node.id }, how.ask)
        return undefined
      default:
        return undefined
    }
  }

  function enter(path: string): void {
    if (watch === undefined) watch = setTimeout(lookAround, leftAfterMs).unref()
    if (path === lastFolder) return
    lastFolder = path
    const above = folders.get(parentOf(path))
    if (above !== undefined) trails.step(above, path)
    else void recall(path)
  }

  /** A directory that was listed before: the way to a file in it led through its listing, so that no request is needed. */
  async function recall(path: string): Promise<void> {
    const ask: Ask = { deadline: instant(now() + momentMs), lane: 'guess' }
    const above = parentOf(path)
    try {
      const node = await tree.directory(above, ask)
      if (node.kind !== 'project' || catalog.knownChildren(node.id) === undefined) return
      trails.step(remember(above, node, await tree.list(node, ask)), path)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
  }

  function lookAround(): void {
    watch = undefined
    lastFolder = ''
    const since = instant(now() - leftAfterMs)
    inFolder.leftSince(since)
    if (trails.leftSince(since)) watch = setTimeout(lookAround, leftAfterMs).unref()
    else ahead.clear()
  }

  function use(path: string, node: Node, deed: Deed): Folder | undefined {
    const folder = parentOf(path)
    enter(folder)
    const kind = kindOf({ name: nameOf(path), node })
    if (kind !== undefined) trails.note(folder, kind, deed)
    return folders.get(folder)
  }

  return {
    listed(path, directory, entries) {
      remember(path, directory, entries)
      if (directory.kind === 'calculation') inFolder.listed(path)
      if (directory.kind === 'shares') trails.note(parentOf(path), 'shares', 'opened')
      else enter(path)
    },
    looked(path, node) {
      if (node.kind !== 'content' && node.kind !== 'record') return
      const folder = use(path, node, 'looked')
      if (folder !== undefined) inFolder.looked(folder, nameOf(path))
    },
    opened(path, node) {
      if (node.kind !== 'content') return
      const folder = use(path, node, 'opened')
      ahead.opened(path)
      if (folder !== undefined) inFolder.opened(folder, nameOf(path))
    },
    readOn(path, node) {
      if (node.kind !== 'content') return
      const folder = use(path, node, 'read')
      if (folder !== undefined) inFolder.readOn(folder)
    },
  }
}
