// Shared contents: the bytes that one daemon of a fleet downloads are put there in parts, and read by the others.
import { contentFileName, contentKeyOf } from '../../cache/content/store/content-name.js'
import { Failure } from '../../failure.js'
import { openRecentMap } from '../../recent-map.js'
import type { Clock } from '../../remote/clock.js'
import {
  type Body,
  byteCount,
  byteOffset,
  type Content,
  type ContentSize,
  type ContentVersion,
  type Instant,
  instant,
  type Remote,
  type RequestContext,
} from '../../remote/remote.js'
import type { LateChanges } from '../shared/late-changes.js'
import { type SharedValuePorts, sharedValue } from '../shared/shared-value.js'
import { isOf, partBytes } from './content-part.js'
import { type PartDownload, unsharedDownload } from './part-download.js'
import { openPartSource, type PartSource, type Stretch, type WantedContent } from './part-source.js'

export interface SharedContents {
  /** The platform, asked for contents and their sizes only where the fleet does not have them. */
  around(remote: Remote): Remote
  /** The service holds another version: what lies there goes, and the others hear of it. */
  replaced(name: string): void
  /** Another daemon says so. */
  outdated(name: string): void
}

/** Milliseconds after which sizes are asked for again. */
const sizeLivesMs = 600_000
/** Of a content that was replaced, where its length is not known. */
const partsAtMost = 64
const namesAtMost = 16_384

export function openSharedContents(ports: SharedValuePorts, changes: LateChanges): SharedContents {
  const { seal, clock } = ports
  const lengths = openRecentMap<number>(namesAtMost)
  const replacedAt = openRecentMap<Instant>(namesAtMost)

  /** Of what is known by its id alone, another node may have kept the bytes of an earlier thing with this id. */
  const isShared = ({ mark }: Content): boolean => mark !== undefined && mark !== ''

  function around(remote: Remote): Remote {
    const source = openPartSource(ports, remote, {
      nameOf,
      isOutdated: (name, since) => (replacedAt.get(name) ?? Number.NEGATIVE_INFINITY) >= since,
    })
    return {
      ...remote,
      contentSize: (content, context) =>
        isShared(content) ? sizeOf(remote, content, context) : remote.contentSize(content, context),
      content: (content, start, context, end, of) =>
        isShared(content)
          ? contentOf(source, { content, start, context, end, of })
          : remote.content(content, start, context, end, of),
    }
  }

  function sizeOf(
    remote: Remote,
    content: Content,
    context: RequestContext,
  ): ReturnType<Remote['contentSize']> {
    return sharedValue<ContentSize | undefined>(ports, {
      name: seal.nameOf('size', nameOf(content)),
      deadline: context.answerBy ?? context.deadline,
      ask: () => remote.contentSize(content, context),
      pack: size =>
        size === undefined
          ? undefined
          : { plain: Buffer.from(`${size.bytes} ${size.modified ?? ''}`), livesMs: sizeLivesMs },
      unpack(plain, _, ageMs) {
        if (ageMs >= sizeLivesMs) return undefined
        const [, bytes, modified] = /^(\d{1,15}) (\d{1,15})?$/.exec(plain.toString('latin1')) ?? []
        if (bytes === undefined) return undefined
        return {
          bytes: byteCount(Number(bytes)),
          ...(modified === undefined ? {} : { modified: instant(Number(modified)) }),
        }
      },
    })
  }

  async function contentOf(source: PartSource, wanted: WantedContent): Promise<Body> {
    const { start, end } = wanted
    const first = await source.from(start, wanted)
    if (first.is === 'body') return first.body
    const facts = first.is === 'part' ? first.part : first.body
    const { length, version } = facts
    if (length === undefined) throw new Failure('internal', 'a part of a content of unknown length')
    lengths.set(nameOf(wanted.content), length)
    // A service that knows no Range sends all.
    const isCut = end !== undefined && end < length && (first.is === 'part' || first.body.end !== undefined)
    const last = isCut ? end : length
    const bytes = stretches(source, { ...wanted, of: version ?? wanted.of }, clock, { first, length, last })
    return {
      length: byteCount(length),
      start,
      ...(isCut ? { end: byteOffset(end) } : {}),
      ends: first.is === 'part' ? 'proven' : first.body.ends,
      ...(version === undefined ? {} : { version }),
      bytes,
      cancel: bytes.cancel,
    }
  }

  return {
    around,
    replaced(name) {
      replacedAt.set(name, clock.now())
      const news = { is: 'content', name } as const
      const count = Math.max(1, Math.ceil((lengths.get(name) ?? partsAtMost * partBytes) / partBytes))
      const parts = Array.from({ length: count }, (_, at) => seal.nameOf('content', `${name} ${at}`))
      const over = [seal.nameOf('size', name), ...parts]
      for (const [at, one] of over.entries())
        changes.make({
          name: one,
          value: undefined,
          livesMs: 0,
          news: at === over.length - 1 ? news : undefined,
        })
    },
    outdated(name) {
      replacedAt.set(name, clock.now())
    },
  }
}

const nameOf = (content: Content): string => contentFileName(contentKeyOf(content))

interface Span {
  readonly first: Stretch
  /** Of the whole content, and where what is wanted ends. */
  readonly length: number
  readonly last: number
}

/** One stretch after another, from wherever each is to be had. */
function stretches(
  source: PartSource,
  wanted: WantedContent,
  clock: Clock,
  { first, length, last }: Span,
): AsyncIterable<Uint8Array> & { cancel(): void } {
  let running: PartDownload | undefined = first.is === 'download' ? first.download : undefined
  let isOver = false

  function cancel(): void {
    isOver = true
    running?.leave()
  }

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let position: number = wanted.start
    let current = first
    while (position < last || current === first) {
      if (current !== first) belong(current, position, length, wanted.of)
      if (current.is === 'part') {
        const { bytes } = current.part
        const base = position - (position % partBytes)
        if (position < last) yield bytes.subarray(position - base, last - base)
        position = Math.min(last, base + bytes.length)
      } else {
        const download = current.is === 'download' ? current.download : unsharedDownload(current.body, clock)
        running = download
        for (;;) {
          const at = download.position
          const piece = await download.next()
          if (piece === undefined) break
          const from = Math.max(0, position - at)
          const to = Math.min(piece.length, last - at)
          position = Math.max(position, at + piece.length)
          // What is more than the length is for the reader to judge.
          if (from < piece.length) yield last === length ? piece.subarray(from) : piece.subarray(from, to)
          if (position >= last && last < length) return download.leave()
        }
        running = undefined
      }
      if (position >= last || isOver) return
      current = await source.from(byteOffset(position), wanted)
      if (isOver) return stop(current)
    }
  }

  return {
    [Symbol.asyncIterator]: pieces,
    cancel,
  }
}

function stop(stretch: Stretch): void {
  if (stretch.is === 'download') stretch.download.stop()
  if (stretch.is === 'body') stretch.body.cancel()
}

/** @throws Failure where it is no rest of what came before: the reader asks for that itself, and finds out why */
function belong(
  stretch: Stretch,
  position: number,
  length: number,
  version: ContentVersion | undefined,
): void {
  const facts = stretch.is === 'part' ? stretch.part : stretch.body
  const isHere = stretch.is !== 'body' || stretch.body.start === position || stretch.body.start === 0
  if (isHere && facts.length === length && isOf(facts.version, version)) return
  stop(stretch)
  throw new Failure('unreachable', 'the fleet does not have the rest of this file')
}
