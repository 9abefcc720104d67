// Shared contents: the bytes that one daemon of a fleet downloads are put there in parts, and read by the others.
import { LRUCache } from 'lru-cache'
import { contentFileName } from '../cache/content/store/blob-store.js'
import { Failure } from '../failure.js'
import {
  type Body,
  byteCount,
  byteOffset,
  type Content,
  type ContentSize,
  type ContentVersion,
  type Instant,
  type Remote,
  type RequestContext,
} from '../remote/remote.js'
import {
  type ContentPart,
  isOf,
  PartDownload,
  partBase,
  partBytes,
  partHead,
  partIn,
} from './content-part.js'
import type { Opened, SealedName } from './seal.js'
import { Lease, type SharingPorts, sharedValue, takenFrom } from './shared-value.js'

interface WantedContent {
  readonly content: Content
  readonly context: RequestContext
  readonly end: number | undefined
  readonly of: ContentVersion | undefined
}

/** Where the next bytes come from, and what is known of the whole content. */
type Stretch =
  | { readonly is: 'part'; readonly facts: ContentPart }
  | { readonly is: 'download'; readonly facts: Body; readonly download: PartDownload }

/** Milliseconds after which parts and sizes are asked for again: even a daemon that has just begun sees a replaced file. */
const [partLivesMs, sizeLivesMs] = [3_600_000, 600_000]
/** So many parts of a replaced content go at once: those beyond tell by their version that they are of another one. */
const partsDropped = 64
const namesAtMost = 16_384

export class SharedContents {
  private readonly replacedAt = new LRUCache<string, Instant>({ max: namesAtMost })

  constructor(private readonly ports: SharingPorts) {}

  /** The platform, asked for contents and their sizes only where the fleet does not have them. */
  around(remote: Remote): Remote {
    return {
      ...remote,
      contentSize: (content, context) =>
        isShared(content) ? this.sizeOf(remote, content, context) : remote.contentSize(content, context),
      content: (content, start, context, end, of) =>
        isShared(content)
          ? this.contentOf(remote, start, { content, context, end, of })
          : remote.content(content, start, context, end, of),
    }
  }

  /** The service holds another version: what lies there goes, and the others hear of it. */
  replaced(name: string): void {
    const { seal, change } = this.ports
    this.heard(name)
    const parts = Array.from({ length: partsDropped }, (_, at) => this.partName(name, at * partBytes))
    void change([seal.nameOf('size', name), ...parts], { is: 'content', name })
  }

  /** The same, where another daemon says so. */
  heard(name: string): void {
    this.replacedAt.set(name, this.ports.clock.now())
  }

  private counts(name: string, { made }: Opened, livesMs: number): boolean {
    return this.ports.clock.now() - made < livesMs && made > (this.replacedAt.get(name) ?? 0)
  }

  private sizeOf(
    remote: Remote,
    content: Content,
    context: RequestContext,
  ): ReturnType<Remote['contentSize']> {
    const name = contentFileName(content)
    return sharedValue<ContentSize | undefined>(this.ports, {
      name: this.ports.seal.nameOf('size', name),
      length: 'short',
      leftMs: 0,
      context,
      ask: () => remote.contentSize(content, context),
      pack: size =>
        size === undefined ? undefined : { plain: Buffer.from(JSON.stringify(size)), livesMs: sizeLivesMs },
      unpack: opened =>
        this.counts(name, opened, sizeLivesMs)
          ? (JSON.parse(opened.plain.toString('latin1')) as ContentSize)
          : undefined,
    })
  }

  private async contentOf(remote: Remote, start: number, wanted: WantedContent): Promise<Body> {
    const { end } = wanted
    const first = await this.stretchAt(remote, start, wanted)
    // A service that knows no Range sends all, and its reader may use all of it.
    if (first.is === 'download' && first.facts.start < partBase(start)) return first.facts
    const { length, version } = first.facts
    const isWhole = first.is === 'download' && first.facts.end === undefined
    const isCut = !isWhole && end !== undefined && length !== undefined && end < length
    const last = isCut ? end : length
    const of = version ?? wanted.of
    let current = first
    let isOver = false
    const next = async (position: number): Promise<Stretch> => {
      const stretch = await this.stretchAt(remote, position, { ...wanted, of })
      if (!isOver && stretch.facts.length === length && isOf(stretch.facts.version, of)) return stretch
      if (stretch.is === 'download') stretch.download.cancel()
      // Its reader asks for the rest itself, and finds out why it is no rest of what came before.
      throw new Failure('unreachable', 'the fleet does not have the rest of this file')
    }
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (let position = start; ; current = await next(position)) {
        if (current.is === 'part') {
          const { bytes: part } = current.facts
          const due = part.subarray(position % partBytes).subarray(0, (last ?? 0) - position)
          if (due.length > 0) yield due
          position += due.length
        } else position = yield* current.download.bytes()
        if (last === undefined || position >= last) return
      }
    }
    return {
      ...(first.is === 'part' ? { ends: 'proven' } : first.facts),
      length: length === undefined ? undefined : byteCount(length),
      start: byteOffset(start),
      end: isCut ? byteOffset(end) : undefined,
      version,
      bytes: bytes(),
      cancel() {
        isOver = true
        if (current.is === 'download') current.download.cancel()
      },
    }
  }

  private async stretchAt(remote: Remote, position: number, wanted: WantedContent): Promise<Stretch> {
    const { content, context, end, of } = wanted
    const name = contentFileName(content)
    const base = partBase(position)
    const lease = await takenFrom<ContentPart>(this.ports, {
      name: this.partName(name, base),
      length: 'long',
      leftMs: 0,
      context,
      unpack: opened => {
        const part = this.counts(name, opened, partLivesMs) ? partIn(opened.plain, base) : undefined
        return part !== undefined && isOf(part.version, of) ? part : undefined
      },
    })
    if (lease !== undefined && !(lease instanceof Lease)) return { is: 'part', facts: lease.answer }
    if (lease !== undefined) this.ports.counts.asked += 1
    // Whole parts are asked for, so that each of them can be shared.
    const [from, to] =
      lease === undefined || end === undefined
        ? [lease === undefined ? position : base, end]
        : [base, partBase(end + partBytes - 1)]
    try {
      const upTo = to === undefined ? undefined : byteOffset(to)
      const body = await remote.content(content, byteOffset(from), context, upTo, of)
      return { is: 'download', facts: body, download: this.downloaded(body, lease, position, wanted) }
    } catch (thrown) {
      lease?.release()
      throw thrown
    }
  }

  private downloaded(
    body: Body,
    lease: Lease | undefined,
    from: number,
    { content, end }: WantedContent,
  ): PartDownload {
    const made = this.ports.clock.now()
    const name = contentFileName(content)
    const { length, version } = body
    const tellsVersion = (version?.tag ?? version?.modified) !== undefined
    // A body that does not say its length is compared with a second one, which the service must send.
    const isClear = length !== undefined && body.ends === 'proven' && body.isPage !== true
    const isShared = isClear && (length <= partBytes || tellsVersion) && body.start === partBase(from)
    if (!isShared) lease?.release()
    return new PartDownload(
      {
        body,
        from,
        to: body.end === undefined ? Number.POSITIVE_INFINITY : (end ?? body.end),
        put: (one, pieces) => {
          if (isShared) one.put(partLivesMs, made, partHead({ length, version }), ...pieces)
        },
        follow: async base => {
          const next = new Lease(this.ports, { name: this.partName(name, base), length: 'long' })
          const taken = await next.take(0)
          return taken === 'leased' ? next : taken && 'elsewhere'
        },
      },
      isShared ? lease : undefined,
    )
  }

  private partName(whole: string, base: number): SealedName {
    return this.ports.seal.nameOf('content', `${whole} ${base / partBytes}`)
  }
}

/** Of a thing known by its id alone, another node may have kept the bytes of an earlier thing with this id. */
const isShared = ({ mark }: Content): boolean => mark !== undefined && mark !== ''
