// Sibling prefetch: one stat after a listing predicts stats of all files; two opens in order predict reading the rest.
import type { Instant, RequestContext } from '../../remote/remote.js'
import type { Dentry } from '../nodes/node.js'
import type { AccessLevel } from './access-pattern.js'
import type { ContentPrefetch } from './content-prefetch.js'
import type { ListedDirectory } from './listed-directory.js'
import type { PrefetchBatch, PrefetchQueue } from './queue.js'

export interface SiblingPrefetch {
  listed(path: string): void
  looked(folder: ListedDirectory, name: string): void
  opened(folder: ListedDirectory, name: string): void
  /** One of its files is read on beyond its beginning. */
  readOn(folder: ListedDirectory): void
  /** Forgets folders that were not used since then. */
  leftSince(since: Instant): void
}

/** The calls in one folder. */
interface FolderUse {
  readonly batch: PrefetchBatch
  /** Files looked at since it was listed. */
  looks: number
  /** The place of the file that was opened last, among the files; -1 before the first. */
  opened: number
  /** How many files ahead are fetched; doubles with each that is opened in order. */
  reach: number
  /** The first place that was not asked for. */
  asked: number
  /** The short ones of its few files are fetched. */
  hasAll: boolean
  level: AccessLevel
  at: Instant
}

const usesAtMost = 64
const reachAtMost = 64
/** Opens with more files than this between two are not in order. */
const skipAtMost = 2
/** Of so few files a program that opens two wants the others, too, in whatever order: `cp` takes them by their inode numbers. */
const fewFiles = 16

export function openSiblingPrefetch(
  queue: PrefetchQueue,
  contentPrefetch: ContentPrefetch,
  isForeseen: (folder: string, file: Dentry) => boolean,
  now: () => Instant,
): SiblingPrefetch {
  const uses = new Map<string, FolderUse>()

  function use(path: string): FolderUse {
    const known = uses.get(path)
    if (known !== undefined) {
      known.at = now()
      return known
    }
    const none = { looks: -1, opened: -1, reach: 0, asked: 0, hasAll: false }
    const fresh: FolderUse = { batch: queue.batch(), ...none, level: 'opened', at: now() }
    uses.set(path, fresh)
    for (const [oldest, { batch }] of uses) {
      if (uses.size <= usesAtMost) break
      batch.cancel()
      uses.delete(oldest)
    }
    return fresh
  }

  const take = (
    { batch }: FolderUse,
    folder: ListedDirectory,
    { name, node }: Dentry,
    level: AccessLevel,
  ): void => {
    if (node.kind !== 'content') return
    batch.add((context: RequestContext, signal) =>
      contentPrefetch.take(`${folder.path}/${name}`, node, { level, isHere: false, context, signal }),
    )
  }

  return {
    listed(path) {
      use(path).looks = 0
    },
    looked(folder, name) {
      const here = use(folder.path)
      // Without a listing one file alone was wanted.
      if (here.looks < 0) return
      here.looks += 1
      // A file that the service makes costs it more: the second stat of a folder predicts those, too.
      if (here.looks > 2) return
      for (const dentry of folder.entries) {
        if (dentry.name === name || dentry.node.kind !== 'content') continue
        // A walk asks for it as it was used in other folders: a body that is read tells its size.
        if (isForeseen(folder.path, dentry)) continue
        if ((dentry.node.content.of === 'file') === (here.looks === 1)) take(here, folder, dentry, 'looked')
      }
    },
    readOn(folder) {
      use(folder.path).level = 'read'
    },
    opened(folder, name) {
      const here = use(folder.path)
      const { files, places } = contentsOf(folder)
      const at = places.get(name)
      if (at === undefined || at === here.opened) return
      const step = at - here.opened
      const isFirst = here.opened < 0
      const inOrder = !isFirst && step > 0 && step <= skipAtMost
      here.opened = at
      if (!isFirst && !here.hasAll && files.length <= fewFiles) {
        here.hasAll = true
        for (const file of files)
          if (file.name !== name && !contentPrefetch.isKnown(file.node, 'opened'))
            take(here, folder, file, 'opened')
      }
      if (!inOrder) {
        here.reach = 0
        here.asked = 0
        return here.hasAll ? undefined : here.batch.cancel()
      }
      here.reach = Math.min(Math.max(2, here.reach * 2), reachAtMost)
      const end = Math.min(at + 1 + here.reach, files.length)
      for (let next = Math.max(at + 1, here.asked); next < end && !contentPrefetch.full(); next += 1) {
        const file = files[next]
        if (file !== undefined && !contentPrefetch.isKnown(file.node, here.level))
          take(here, folder, file, here.level)
        here.asked = next + 1
      }
    },
    leftSince(since) {
      for (const [path, { at, batch }] of uses) {
        if (at > since) continue
        batch.cancel()
        uses.delete(path)
      }
    },
  }
}

interface Contents {
  readonly files: readonly Dentry[]
  /** By name. */
  readonly places: ReadonlyMap<string, number>
}

const contents = new WeakMap<ListedDirectory, Contents>()

/** Of one listing they are found once: a folder may hold thousands, and each of them is opened. */
function contentsOf(folder: ListedDirectory): Contents {
  const known = contents.get(folder)
  if (known !== undefined) return known
  const files = folder.entries.filter(({ node }) => node.kind === 'content')
  const found = { files, places: new Map(files.map(({ name }, place) => [name, place])) }
  contents.set(folder, found)
  return found
}
