// Content prefetch: whole contents where their kind is read, so many bytes at most, dropped when the traversal ends.
import type { ContentCache } from '../../cache/content/content.js'
import { lastNameOf } from '../../layout.js'
import type { RequestContext } from '../../remote/remote.js'
import type { ContentNode, Node } from '../nodes/node.js'
import { type AccessLevel, fileClassOf } from './access-pattern.js'

export interface AskedHow {
  readonly level: AccessLevel
  /** In the folder that the user's program is in: it is asked for however much lies ready. */
  readonly isHere: boolean
  readonly context: RequestContext
  readonly signal: AbortSignal
}

/** Of files that are opened and not read on, only what is hardly longer than its beginning is fetched. */
const mostOf: Readonly<Record<AccessLevel, number>> = { looked: 1 << 20, opened: 256 << 10, read: 32 << 20 }
/** Longer ones are called off when their reader has left, in bytes. */
const longBytes = 1 << 20
/** The bytes that a file counts for before its length is known. */
const supposedBytes = 64 << 10

/** So much may lie ready at first: it is still in memory when it is opened. */
const readyAtFirst = 8 << 20

export class ContentPrefetch {
  readonly #ready = new Map<string, number>()
  #bytes = 0
  readonly #atFirst: number
  /** Grows with each file that its program needs first while others lie ready, and shrinks with each that lay ready. */
  #readyLimit: number
  /** True if all files of a kind that were met are no longer than a beginning. */
  readonly #areShort = new Map<string, boolean>()

  /** At most `readyAtMost` bytes lie ready without having been opened. */
  constructor(
    private readonly content: Pick<ContentCache, 'size' | 'prefetch' | 'isKept' | 'knownSize'>,
    private readonly readyAtMost: number,
  ) {
    this.#atFirst = Math.min(readyAtFirst, readyAtMost)
    this.#readyLimit = this.#atFirst
  }

  /** Asks for what is usually done to it: its size, or its bytes. */
  async take(path: string, node: ContentNode, { level, isHere, context, signal }: AskedHow): Promise<void> {
    const { content, readyAtMost } = this
    const wanted = node.content
    if (level === 'looked') {
      // A body on its way tells its length as well.
      if (!this.#ready.has(path)) await content.size(wanted, context)
      return
    }
    if (this.full() && !isHere) return
    if (this.full()) this.#readyLimit = Math.min(this.#readyLimit + readyAtFirst, readyAtMost)
    const longest = Math.min(mostOf[level], readyAtMost)
    this.#put(path, supposedBytes)
    try {
      // The body of one that is longer than its beginning would come twice: given up here, and for its reader.
      const isUnsure =
        content.knownSize(wanted) === undefined && this.#areShort.get(kindOf(path, node)) !== true
      if (level === 'opened' && isUnsure) await content.size(wanted, context)
      // A short body is on its way faster than it is called off, and would have to be asked for again.
      const isLong = (content.knownSize(wanted) ?? 0) > longBytes
      const length = await content.prefetch(wanted, context, longest, isLong ? signal : undefined)
      this.#learn(path, node, length)
      if (this.#ready.has(path)) this.#put(path, length > longest ? 0 : length)
    } catch (thrown) {
      this.#drop(path)
      throw thrown
    }
  }

  /** Nothing would be asked for: of a file that is looked at, the length is known; of one that is read, all is kept. */
  isKnown(node: Node, level: AccessLevel): boolean {
    if (node.kind !== 'content') return false
    const { content } = this
    return level === 'looked' ? content.knownSize(node.content) !== undefined : content.isKept(node.content)
  }

  /** It was opened: its length tells how long others of its kind may be. Whether something lay ready for it, which is used now. */
  opened(path: string, node: ContentNode): boolean {
    const wasReady = this.#ready.has(path)
    if (wasReady) this.#readyLimit = Math.max(this.#readyLimit - supposedBytes, this.#atFirst)
    this.#drop(path)
    this.#learn(path, node, this.content.knownSize(node.content))
    return wasReady
  }

  /** So much lies ready that no more is fetched for now. */
  full(): boolean {
    return this.#bytes >= this.#readyLimit
  }

  /** The contents that lie ready are not wanted any more. */
  clear(): void {
    this.#ready.clear()
    this.#areShort.clear()
    this.#bytes = 0
    this.#readyLimit = this.#atFirst
  }

  #learn(path: string, node: ContentNode, length: number | undefined): void {
    const kind = kindOf(path, node)
    if (length !== undefined && this.#areShort.get(kind) !== false)
      this.#areShort.set(kind, length <= mostOf.opened)
  }

  #drop(path: string): void {
    this.#bytes -= this.#ready.get(path) ?? 0
    this.#ready.delete(path)
  }

  #put(path: string, length: number): void {
    this.#drop(path)
    this.#ready.set(path, length)
    this.#bytes += length
  }
}

const kindOf = (path: string, node: Node): string => fileClassOf({ name: lastNameOf(path), node }) ?? ''
