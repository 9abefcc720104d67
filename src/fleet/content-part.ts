// Content part: a MiB of a content as it lies in the fleet, and a body of the service that is put there part by part on its way.
import type { Body, ContentVersion } from '../remote/remote.js'
import type { Lease } from './shared-value.js'

/** Bytes of a part; a content that is no longer is one part. */
export const partBytes = 1 << 20

export interface ContentPart {
  /** Of the whole content. */
  readonly length: number
  readonly version: ContentVersion | undefined
  readonly bytes: Buffer
}

export const partBase = (position: number): number => position - (position % partBytes)

/** Before its bytes: a MiB is not copied for its head. */
export function partHead({ length, version }: Omit<ContentPart, 'bytes'>): Buffer {
  const text = Buffer.from(JSON.stringify({ length, version }), 'utf8')
  const size = Buffer.alloc(4)
  size.writeUInt32LE(text.length)
  return Buffer.concat([size, text])
}

/** Undefined for a part that has not the bytes which its content has from there on. */
export function partIn(plain: Buffer, base: number): ContentPart | undefined {
  const end = 4 + plain.readUInt32LE(0)
  const head = JSON.parse(plain.subarray(4, end).toString('utf8')) as Omit<ContentPart, 'bytes'>
  const bytes = plain.subarray(end)
  const due = Math.min(partBytes, head.length - base)
  return bytes.length === due ? { ...head, bytes } : undefined
}

/** True if it is the version that was asked for, where both say which they are. */
export function isOf(version: ContentVersion | undefined, of: ContentVersion | undefined): boolean {
  if (of === undefined) return true
  if (of.tag !== undefined && version?.tag !== undefined) return of.tag === version.tag
  return of.modified !== undefined && of.modified === version?.modified
}

interface PartDownloadPorts {
  readonly body: Body
  /** Where the wanted bytes begin and end; the body may begin earlier and end later. */
  readonly from: number
  readonly to: number
  put(lease: Lease, pieces: readonly Uint8Array[]): void
  /** The lease of the part that begins there; 'elsewhere' where another daemon has it, undefined where nothing is shared. */
  follow(base: number): Promise<Lease | 'elsewhere' | undefined>
}

export class PartDownload {
  /** That part's bytes so far. */
  private pieces: Buffer[] = []

  constructor(
    private readonly ports: PartDownloadPorts,
    /** Of the part that is on its way, at first the one that the body begins with; undefined where it is not shared. */
    private lease: Lease | undefined,
  ) {}

  /** The wanted bytes; returns how far they went: less where another daemon has the next part. */
  async *bytes(): AsyncGenerator<Uint8Array, number> {
    const { body, from, to } = this.ports
    let position: number = body.start
    try {
      for await (const piece of body.bytes) {
        for (let rest = piece; rest.length > 0; ) {
          const begin = position
          const room = partBase(begin) + partBytes - begin
          const now = this.lease === undefined ? rest : rest.subarray(0, room)
          rest = rest.subarray(now.length)
          position += now.length
          // A piece is its reader's as soon as it is given.
          if (this.lease !== undefined) this.pieces.push(Buffer.from(now))
          // That nothing follows the last part is known only after it. A reader may want no more than this one.
          const isWhole = this.lease !== undefined && now.length === room && position !== body.length
          if (isWhole) this.put()
          if (position > from && begin < to) yield now.subarray(Math.max(0, from - begin), to - begin)
          // The part that was begun is finished for the others.
          if (position >= to && this.lease === undefined) return position
          if (isWhole && !(await this.goesOn(position))) return position
        }
      }
      if (position === body.length) this.put()
      return position
    } finally {
      this.cancel()
    }
  }

  /** Safe at any time. */
  cancel(): void {
    this.lease?.release()
    this.ports.body.cancel()
  }

  private put(): void {
    if (this.lease !== undefined) this.ports.put(this.lease, this.pieces)
    this.lease = undefined
    this.pieces = []
  }

  /** True if the body is read on: not where it ends, nor where what follows is another daemon's. */
  private async goesOn(position: number): Promise<boolean> {
    if (position === this.ports.body.end) return false
    const next = await this.ports.follow(position)
    this.lease = next === 'elsewhere' ? undefined : next
    return next !== 'elsewhere'
  }
}
