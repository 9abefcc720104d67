// Content prefetch: whole contents where their kind is read, so many bytes at most, dropped when the traversal ends.
import type { ContentCache } from '../../cache/content/content.js'
import { lastNameOf } from '../../layout.js'
import type { RequestContext } from '../../remote/remote.js'
import type { ContentNode, Node } from '../nodes/node.js'
import { type AccessLevel, fileClassOf } from './access-pattern.js'

/** How something is asked for ahead. */
export interface AskedHow {
  readonly level: AccessLevel
  /** In the folder that the user's program is in: it is asked for however much lies ready. */
  readonly isHere: boolean
  readonly context: RequestContext
  readonly signal: AbortSignal
}

export interface ContentPrefetch {
  /** Asks for what is usually done to it: its size, or its bytes. */
  take(path: string, node: ContentNode, how: AskedHow): Promise<void>
  /** Nothing would be asked for: of a file that is looked at, the length is known; of one that is read, all is kept. */
  isKnown(node: Node, level: AccessLevel): boolean
  /** It was opened: its length tells how long others of its kind may be. Whether something lay ready for it, which is used now. */
  opened(path: string, node: ContentNode): boolean
  /** So much lies ready that no more is fetched for now. */
  full(): boolean
  /** The contents that lie ready are not wanted any more. */
  clear(): void
}

/** Of files that are opened and not read on, only what is hardly longer than its beginning is fetched. */
const mostOf: Readonly<Record<AccessLevel, number>> = { looked: 1 << 20, opened: 256 << 10, read: 32 << 20 }
/** Longer ones are called off when their reader has left, in bytes. */
const longBytes = 1 << 20
/** The bytes that a file counts for before its length is known. */
const supposedBytes = 64 << 10

/** So much may lie ready at first: it is still in memory when it is opened. */
const readyAtFirst = 8 << 20

/** At most `readyAtMost` bytes lie ready without having been opened. */
export function openContentPrefetch(
  content: Pick<ContentCache, 'size' | 'prefetch' | 'isKept' | 'knownSize'>,
  readyAtMost: number,
): ContentPrefetch {
  const atFirst = Math.min(readyAtFirst, readyAtMost)
  const ready = new Map<string, number>()
  let bytes = 0
  /** Grows with each file that its program needs first while others lie ready, and shrinks with each that lay ready. */
  let readyLimit = atFirst
  /** True if all files of a kind that were met are no longer than a beginning. */
  const areShort = new Map<string, boolean>()

  function learn(path: string, node: ContentNode, length: () => number | undefined): void {
    const kind = kindOf(path, node)
    if (areShort.get(kind) === false) return
    const known = length()
    if (known !== undefined) areShort.set(kind, known <= mostOf.opened)
  }

  function drop(path: string): void {
    bytes -= ready.get(path) ?? 0
    ready.delete(path)
  }

  function put(path: string, length: number): void {
    drop(path)
    ready.set(path, length)
    bytes += length
  }

  return {
    async take(path, node, { level, isHere, context, signal }) {
      const wanted = node.content
      if (level === 'looked') {
        // A body on its way tells its length as well.
        if (!ready.has(path)) await content.size(wanted, context)
        return
      }
      if (bytes >= readyLimit && !isHere) return
      if (bytes >= readyLimit) readyLimit = Math.min(readyLimit + readyAtFirst, readyAtMost)
      const longest = Math.min(mostOf[level], readyAtMost)
      put(path, supposedBytes)
      try {
        // The body of one that is longer than its beginning would come twice: given up here, and for its reader.
        const isUnsure = content.knownSize(wanted) === undefined && areShort.get(kindOf(path, node)) !== true
        if (level === 'opened' && isUnsure) await content.size(wanted, context)
        // A short body is on its way faster than it is called off, and would have to be asked for again.
        const isLong = (content.knownSize(wanted) ?? 0) > longBytes
        const length = await content.prefetch(wanted, context, longest, isLong ? signal : undefined)
        learn(path, node, () => length)
        if (ready.has(path)) put(path, length > longest ? 0 : length)
      } catch (thrown) {
        drop(path)
        throw thrown
      }
    },
    isKnown(node, level) {
      if (node.kind !== 'content') return false
      return level === 'looked' ? content.knownSize(node.content) !== undefined : content.isKept(node.content)
    },
    opened(path, node) {
      const wasReady = ready.has(path)
      if (wasReady) readyLimit = Math.max(readyLimit - supposedBytes, atFirst)
      drop(path)
      learn(path, node, () => content.knownSize(node.content))
      return wasReady
    },
    full: () => bytes >= readyLimit,
    clear() {
      ready.clear()
      areShort.clear()
      bytes = 0
      readyLimit = atFirst
    },
  }
}

const kindOf = (path: string, node: Node): string => fileClassOf({ name: lastNameOf(path), node }) ?? ''
