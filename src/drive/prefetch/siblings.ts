// Sibling prefetch: one stat after a listing predicts stats of all files; two opens in order predict reading the rest.
import { LRUCache } from 'lru-cache'
import type { Instant } from '../../remote/remote.js'
import type { Dentry } from '../nodes/node.js'
import type { AccessLevel } from './access-pattern.js'
import type { ContentPrefetch } from './content-prefetch.js'
import type { FileQuestion } from './file-questions.js'
import type { ListedDirectory } from './listed-directory.js'
import type { PrefetchQueue } from './queue.js'

interface FolderUse {
  readonly waiting: FileQuestion[]
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

export class SiblingPrefetch {
  readonly #uses = new LRUCache<string, FolderUse>({ max: usesAtMost })

  constructor(
    private readonly queue: Pick<PrefetchQueue, 'wake'>,
    private readonly contents: Pick<ContentPrefetch, 'isKnown' | 'full'>,
    private readonly now: () => Instant,
  ) {}

  /** The next one, in the folder that was used last. */
  next(): FileQuestion | undefined {
    for (const { waiting } of this.#uses.values()) {
      const question = waiting.shift()
      if (question !== undefined) return question
    }
    return undefined
  }

  listed(path: string): void {
    this.#use(path).looks = 0
  }

  /** `isForeseen`: a walk asks for it as it was used in other folders: a body that is read tells its size. */
  looked(folder: ListedDirectory, name: string, isForeseen: (file: Dentry) => boolean): void {
    const here = this.#use(folder.path)
    // Without a listing one file alone was wanted.
    if (here.looks < 0) return
    here.looks += 1
    // A file that the service makes costs it more: the second stat of a folder predicts those, too.
    if (here.looks > 2) return
    for (const dentry of folder.entries) {
      if (dentry.name === name || dentry.node.kind !== 'content') continue
      if (isForeseen(dentry)) continue
      if ((dentry.node.content.of === 'file') === (here.looks === 1))
        this.#take(here, folder, dentry, 'looked')
    }
  }

  readOn(folder: ListedDirectory): void {
    this.#use(folder.path).level = 'read'
  }

  opened(folder: ListedDirectory, name: string): void {
    const here = this.#use(folder.path)
    const at = folder.placeOfFile(name)
    if (at === undefined || at === here.opened) return
    const step = at - here.opened
    const isFirst = here.opened < 0
    here.opened = at
    if (!isFirst && folder.files.length <= fewFiles) this.#takeAll(here, folder, name)
    if (!isFirst && step > 0 && step <= skipAtMost) this.#takeNext(here, folder)
    else {
      here.reach = 0
      here.asked = 0
      if (!here.hasAll) here.waiting.length = 0
    }
  }

  /** Gives up every folder that was left before then; answers whether any is used still. */
  leftSince(since: Instant): boolean {
    for (const [path, { at }] of [...this.#uses.entries()]) if (at <= since) this.#uses.delete(path)
    return this.#uses.size > 0
  }

  #use(path: string): FolderUse {
    const known = this.#uses.get(path)
    if (known !== undefined) {
      known.at = this.now()
      return known
    }
    const none = { looks: -1, opened: -1, reach: 0, asked: 0, hasAll: false }
    const fresh: FolderUse = { waiting: [], ...none, level: 'opened', at: this.now() }
    this.#uses.set(path, fresh)
    return fresh
  }

  #takeAll(here: FolderUse, folder: ListedDirectory, but: string): void {
    if (here.hasAll) return
    here.hasAll = true
    for (const file of folder.files) if (file.name !== but) this.#take(here, folder, file, 'opened')
  }

  #takeNext(here: FolderUse, folder: ListedDirectory): void {
    const { files } = folder
    here.reach = Math.min(Math.max(2, here.reach * 2), reachAtMost)
    const end = Math.min(here.opened + 1 + here.reach, files.length)
    const from = Math.max(here.opened + 1, here.asked)
    for (let next = from; next < end && !this.contents.full(); next += 1) {
      const file = files[next]
      if (file !== undefined) this.#take(here, folder, file, here.level)
      here.asked = next + 1
    }
  }

  #take(use: FolderUse, folder: ListedDirectory, dentry: Dentry, level: AccessLevel): void {
    if (dentry.node.kind !== 'content' || this.contents.isKnown(dentry.node, level)) return
    use.waiting.push({ path: `${folder.path}/${dentry.name}`, dentry, level, isHere: false })
    this.queue.wake()
  }
}
