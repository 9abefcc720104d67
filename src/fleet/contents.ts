// Shared contents: the bytes that one daemon of a fleet downloads are put there in parts, and read by the others.
import { LRUCache } from 'lru-cache'
import { contentFileName, contentKeyOf } from '../cache/content/store/content-name.js'
import { Failure } from '../failure.js'
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
} from '../remote/remote.js'
import {
  type ContentPart,
  isOf,
  partBase,
  partBytes,
  partForm,
  partIn,
  tellsVersion,
} from './content-part.js'
import { Lease } from './lease.js'
import type { ChangeElsewhere } from './news.js'
import { PartDownload } from './part-download.js'
import type { Opened, SealedName } from './seal.js'
import { type SharedValuePorts, sharedValue, takenFrom } from './shared-value.js'

export interface SharedContentsPorts extends SharedValuePorts {
  /** What lies under these names is over, and the others are told so. */
  readonly change: (names: readonly SealedName[], news: ChangeElsewhere) => Promise<void>
}

interface WantedContent {
  readonly content: Content
  readonly context: RequestContext
  readonly end: number | undefined
  readonly of: ContentVersion | undefined
}

/** Where the next bytes come from, and what is known of the whole content. */
type Stretch =
  | { readonly is: 'part'; readonly part: ContentPart }
  | { readonly is: 'download'; readonly body: Body; readonly download: PartDownload }

/** Milliseconds after which parts and sizes are asked for again: a daemon that begins is not told for ever what was once. */
const [partLivesMs, sizeLivesMs] = [3_600_000, 600_000]
/** Milliseconds for which another daemon's download of one part is waited for. */
const patienceMs = 5_000
/** Of a replaced content whose length is not known. */
const partsAtMost = 64
const namesAtMost = 16_384

export class SharedContents {
  private readonly ports: SharedContentsPorts
  private readonly lengths = new LRUCache<string, number>({ max: namesAtMost })
  private readonly replacedAt = new LRUCache<string, Instant>({ max: namesAtMost })

  constructor(ports: SharedContentsPorts) {
    this.ports = ports
  }

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
    const { seal, clock, change } = this.ports
    this.replacedAt.set(name, clock.now())
    const count = Math.max(1, Math.ceil((this.lengths.get(name) ?? partsAtMost * partBytes) / partBytes))
    const parts = Array.from({ length: count }, (_, at) => this.partName(name, at * partBytes))
    void change([seal.nameOf('size', name), ...parts], { is: 'content', name })
  }

  /** Another daemon says so. */
  heard(name: string): void {
    this.replacedAt.set(name, this.ports.clock.now())
  }

  private counts(name: string, { made }: Opened, livesMs: number): boolean {
    return this.ports.clock.now() - made < livesMs && made > (this.replacedAt.get(name) ?? 0)
  }

  private async sizeOf(
    remote: Remote,
    content: Content,
    context: RequestContext,
  ): ReturnType<Remote['contentSize']> {
    const name = nameOf(content)
    return sharedValue<ContentSize | undefined>(this.ports, {
      name: this.ports.seal.nameOf('size', name),
      deadline: context.answerBy ?? context.deadline,
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
    if (first.is === 'download' && first.body.start < partBase(start)) return first.body
    const facts = first.is === 'part' ? first.part : first.body
    const { length, version } = facts
    if (length !== undefined) this.lengths.set(nameOf(wanted.content), length)
    const isCut =
      end !== undefined &&
      length !== undefined &&
      end < length &&
      (first.is === 'part' || first.body.end !== undefined)
    const last = isCut ? end : length
    let current = first
    let isOver = false
    const of = version ?? wanted.of
    const next = async (position: number): Promise<Stretch> => {
      const stretch = await this.stretchAt(remote, position, { ...wanted, of })
      if (isOver && stretch.is === 'download') stretch.download.cancel()
      return belonging(stretch, length, of)
    }
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (let position = start; !isOver; ) {
        if (current.is === 'part') {
          const piece = current.part.bytes.subarray(position % partBytes)
          const due = piece.subarray(0, (last ?? 0) - position)
          if (due.length > 0) yield due
          position += due.length
        } else position = yield* current.download.bytes()
        if (last === undefined || position >= last) return
        current = await next(position)
      }
    }
    return {
      ...(first.is === 'part' ? { ends: 'proven' } : first.body),
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
    const name = nameOf(content)
    const base = partBase(position)
    const { clock, counts } = this.ports
    const deadline = Math.min(context.answerBy ?? context.deadline, clock.now() + patienceMs)
    const taken = await this.takePart(name, base, of, instant(deadline))
    if (taken !== undefined && !(taken instanceof Lease)) return { is: 'part', part: taken.answer }
    if (taken === undefined) {
      const body = await remote.content(content, byteOffset(position), context, offset(end), of)
      return this.downloaded(body, undefined, position, wanted)
    }
    // Whole parts are asked for, so that each of them can be shared.
    const upTo = end === undefined ? undefined : partBase(end + partBytes - 1)
    counts.asked += 1
    try {
      const body = await remote.content(content, byteOffset(base), context, offset(upTo), of)
      return this.downloaded(body, taken, position, wanted)
    } catch (thrown) {
      taken.release()
      throw thrown
    }
  }

  private downloaded(
    body: Body,
    lease: Lease | undefined,
    position: number,
    { content, end }: WantedContent,
  ): Stretch {
    const { seal, clock } = this.ports
    const made = clock.now()
    const name = nameOf(content)
    const { length, version } = body
    // A body that does not say its length is compared with a second one, which the service must send.
    const isClear = length !== undefined && body.ends === 'proven' && body.isPage !== true
    const isOne = isClear && (length <= partBytes || tellsVersion(version))
    const shares = isOne && body.start === partBase(position)
    if (!shares) lease?.release()
    const download = new PartDownload({
      body,
      lease: shares ? lease : undefined,
      from: position,
      to: body.end === undefined ? Number.POSITIVE_INFINITY : (end ?? body.end),
      put: (one, bytes, total) =>
        one.put(seal.close(one.name, made, partForm({ length: total, version }), bytes), partLivesMs),
      follow: async base => {
        const next = new Lease(this.ports, this.partName(name, base), 'long')
        const taken = await next.take(0)
        return taken && (taken.is === 'leased' ? next : 'elsewhere')
      },
    })
    return { is: 'download', body, download }
  }

  private partName(whole: string, base: number): SealedName {
    return this.ports.seal.nameOf('content', `${whole} ${base / partBytes}`)
  }

  private takePart(
    whole: string,
    base: number,
    of: ContentVersion | undefined,
    waitsUntil: Instant,
  ): ReturnType<typeof takenFrom<ContentPart>> {
    return takenFrom<ContentPart>(this.ports, {
      name: this.partName(whole, base),
      length: 'long',
      leftMs: 0,
      waitsUntil,
      unpack: opened => {
        if (!this.counts(whole, opened, partLivesMs)) return undefined
        const part = partIn(opened.plain, base)
        return part !== undefined && isOf(part.version, of) ? part : undefined
      },
    })
  }
}

/** Of a thing known by its id alone, another node may have kept the bytes of an earlier thing with this id. */
const isShared = ({ mark }: Content): boolean => mark !== undefined && mark !== ''

const nameOf = (content: Content): string => contentFileName(contentKeyOf(content))

const offset = (position: number | undefined): ReturnType<typeof byteOffset> | undefined =>
  position === undefined ? undefined : byteOffset(position)

/** @throws Failure where it is no rest of what came before: the reader asks for that itself, and finds out why */
function belonging(
  stretch: Stretch,
  length: number | undefined,
  version: ContentVersion | undefined,
): Stretch {
  const facts = stretch.is === 'part' ? stretch.part : stretch.body
  if (facts.length === length && isOf(facts.version, version)) return stretch
  if (stretch.is === 'download') stretch.download.cancel()
  throw new Failure('unreachable', 'the fleet does not have the rest of this file')
}
