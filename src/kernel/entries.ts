// Answers about names: which inode a name has, for how long they hold here and at the kernel, and what an answer that is not taken undoes.
import { type Attributes, isDirectoryMode } from '../drive/interface/attributes.js'
import type { Drive } from '../drive/interface/verbs.js'
import { isEditable, nodeKey } from '../drive/nodes/node.js'
import type { MaybePromise } from '../maybe-promise.js'
import type { Clock } from '../remote/clock.js'
import type { Instant } from '../remote/remote.js'
import type { Found, Inode, Inodes } from './inodes.js'
import { type Lifetimes, type NodeAttributes, Reply } from './reply.js'

/** An answer on its way: what it gives the kernel counts once it has been taken. */
export interface Answer {
  readonly reply: Reply
  /** An errno that no failure of the drive has. */
  readonly error?: 'ERANGE'
  /** Nodes that the kernel looks up by it. */
  readonly entered?: readonly Inode[]
  /** It shows another text than the kernel was told, or has another name: what is kept of its attributes is over before the answer. */
  readonly renewed?: Inode | undefined
  /** Closes what it has opened, where it is not taken. */
  readonly undo?: () => void
}

export interface RequestParts {
  readonly drive: Drive
  readonly inodes: Inodes
  /** Seconds for which the kernel keeps names, attributes and listings that are not known to hold for longer. */
  readonly keptSeconds: number
  readonly remembered: Remembered
  readonly xattrs: boolean
  readonly clock: Pick<Clock, 'now'>
}

/** The inode of what the drive has found at a name. */
export function inodeAt(
  inodes: Inodes,
  parent: Inode,
  name: string,
  attributes: Attributes,
  found = foundBy(attributes),
): Inode {
  const { listedBy } = attributes
  if (listedBy !== undefined && listedBy !== parent.thing) inodes.alsoNews(parent, listedBy)
  return inodes.at(parent, name, found)
}

export function foundBy(attributes: Attributes): Found {
  const { node, mode, bytes, replaced, isChanging = false } = attributes
  const thing = nodeKey(node)
  const content = `${thing} ${replaced ?? ''}`
  return {
    node,
    thing,
    version: versionOf(attributes, bytes === 'content' ? content : thing),
    numbered: replaced === undefined ? thing : content,
    isDirectory: isDirectoryMode(mode),
    isChanging,
  }
}

/** True if an inode is what was found at its name. Another one's comes to be when the kernel looks the name up. */
export function isStill(inodes: Inodes, inode: Inode, attributes: Attributes): boolean {
  return inode.parent === undefined || inodes.stands(inode, foundBy(attributes))
}

/**
 * Of a text its time, which grows with each change, and its length: what the service makes of a saved text has the time of
 * that. Of a content what it replaced, and its length, which may be known before its bytes; of anything else the thing.
 */
function versionOf({ bytes, mtime, size }: Attributes, which: string): string {
  if (bytes === 'text') return `${mtime} ${size}`
  return bytes === 'content' ? `${size} ${which}` : which
}

/** The kernel's facts of an inode. */
export const shownOf = ({ ino }: Inode, { mode, size, mtime }: Attributes): NodeAttributes => ({
  ino,
  mode,
  size,
  mtime,
})

/** Seconds: another version of a content is another inode. */
const contentSeconds = 86_400

type Times = Pick<RequestParts, 'clock' | 'keptSeconds'>

/**
 * A text that is being written has another size at each look. The name of one that can be saved stands for another node after
 * each change, and an editor's file is soon moved over a text.
 */
export function lifetimesOf({ bytes, isChanging, node, until }: Attributes, times: Times): Lifetimes {
  const seconds = secondsTo(until, times)
  return {
    name: node.kind === 'scratch' ? 0 : bytes === 'text' && isEditable(node) ? 1 : seconds,
    attributes: isChanging === true ? 0 : bytes === 'content' ? contentSeconds : seconds,
  }
}

/** The longest lifetime of a name: the drive's answers hold for three quarters of theirs. */
export const longestSeconds = (keptSeconds: number): number => 3 * keptSeconds

/** Until when the drive answers without a question; after that it asks early, and each answer is kept for a while. */
export const secondsTo = (until: Instant | undefined, { clock, keptSeconds }: Times): number =>
  until === undefined
    ? keptSeconds
    : Math.min(Math.max((until - clock.now()) / 1000, keptSeconds), longestSeconds(keptSeconds))

export const nothing = (): Answer => ({ reply: new Reply(0) })

/** Of a directory with more names none is kept with what it showed: it would take a hundred bytes each. */
const mostNames = 10_000

export class Remembered {
  #changes = 0

  constructor(private readonly parts: Omit<RequestParts, 'remembered'>) {}

  /** Of all that a name may depend on; each part only grows. */
  get state(): number {
    return this.#changes + this.parts.inodes.news + this.parts.drive.revision()
  }

  /** The drive's answer now; undefined where it has to be asked. */
  of(inode: Inode | undefined): Attributes | undefined {
    const found = inode?.foundIn === this.state ? inode.found : undefined
    return found?.until !== undefined && this.parts.clock.now() < found.until ? found : undefined
  }

  /** `state` is that in which the drive was asked: what was told while it was looked for counts. */
  keep(inode: Inode, attributes: Attributes, state: number): void {
    if (attributes.until === undefined || (inode.parent?.children?.size ?? 0) > mostNames) return
    inode.found = attributes
    inode.foundIn = state
  }

  /** While a program changes something, and not after it: any name may lead to another thing by then. */
  async during<Value>(change: () => MaybePromise<Value>): Promise<Value> {
    try {
      return await change()
    } finally {
      this.#changes += 1
    }
  }
}
