// Uncached stream, for a full disk: one running body, of which a short window stays in memory.
import { Failure } from '../../../failure.js'
import { type Body, type ByteOffset, byteOffset, type ContentVersion } from '../../../remote/remote.js'
import { FileClosed } from '../store/open-file.js'
import { type ContentVersions, fingerprintOf, isOther, OtherLength, OtherVersion } from '../store/versions.js'

export interface UncachedPorts {
  readonly name: string
  readonly versions: ContentVersions
  /** `of` is the version a part must belong to. */
  readonly fetch: (start: ByteOffset, of: ContentVersion | undefined) => Promise<Body>
}

/** The bytes kept behind the newest one: enough for the kernel's read-ahead to arrive out of order. */
const behindBytes = 4 << 20
/** A gap up to this is passed over; a longer one is worth a request of its own. */
const skipBytes = 4 << 20

/** Begins with the first read. Bodies whose end proves nothing are refused: nothing here could compare them. */
export class UncachedStream {
  private body: Body | undefined
  private pieces: AsyncIterator<Uint8Array> | undefined
  /** The pieces in memory, from `start` on without gaps to `end`. */
  private held: Uint8Array[] = []
  private start = 0
  private end = 0
  private isDone = false
  private version: ContentVersion | undefined
  private length: number | undefined
  private hasRanges = true
  private before: Promise<unknown> = Promise.resolve()
  private readers = 0
  private isOver = false

  constructor(private readonly ports: UncachedPorts) {}

  /**
   * Fills `into` from `offset` up to the end of the content; one read at a time, in the order of the calls. Rejects with a
   * Failure, with a `Contradiction` where a body is of another version or length than what came before, or with `FileClosed`.
   */
  read(offset: number, into: Uint8Array): Promise<number> {
    this.readers += 1
    const next = this.before.then(() => this.readNext(offset, into))
    this.before = next
      .catch(() => this.endBody())
      .finally(() => {
        this.readers -= 1
      })
    return next
  }

  /** The length as the head of a body tells it; of that body nothing is read. */
  async size(): Promise<number> {
    try {
      await this.begin(0)
    } finally {
      this.stop()
    }
    if (this.length === undefined) throw unproven()
    return this.length
  }

  /** No read waits for its body, which holds a place among all requests, and another stream need not begin at the first byte. */
  get canRest(): boolean {
    return this.readers === 0 && this.hasRanges
  }

  /** The reads that wait are rejected with `FileClosed`: another stream goes on. */
  stop(): void {
    this.isOver = true
    this.endBody()
  }

  private get told(): number | undefined {
    return this.ports.versions.length(this.ports.name) ?? this.length
  }

  private async readNext(offset: number, into: Uint8Array): Promise<number> {
    if (this.isOver) throw new FileClosed()
    const isFar = this.hasRanges && offset > this.end + skipBytes
    if (this.body === undefined || offset < this.start || isFar) await this.begin(offset)
    while (!this.isDone && this.end < offset + into.length) await this.pull(offset)
    const { told } = this
    if (told !== undefined && this.end > told) throw new OtherLength(told, undefined)
    const filled = this.copy(offset, into)
    if (told === undefined) return filled
    if (filled < Math.min(into.length, told - offset)) throw new OtherLength(told, offset + filled)
    // Read to its end it is the kernel's.
    if (offset + filled === told) {
      this.held = []
      this.start = told
    }
    return filled
  }

  private endBody(): void {
    this.body?.cancel()
    this.body = undefined
  }

  private async begin(offset: number): Promise<void> {
    this.endBody()
    const body = await this.ports.fetch(byteOffset(this.hasRanges ? offset : 0), this.version)
    this.body = body
    if (this.isOver) throw new FileClosed()
    this.compare(body, offset)
    this.hasRanges &&= body.start === offset
    this.pieces = body.bytes[Symbol.asyncIterator]()
    this.held = []
    this.start = body.start
    this.end = body.start
    this.isDone = false
  }

  /** One body after another: all that is given must be of one version, of the length that was told. */
  private compare(body: Body, offset: number): void {
    const { name, versions } = this.ports
    if (body.ends !== 'proven' || body.start > offset) throw unproven()
    const arrived = fingerprintOf(body.version)
    const { told } = this
    if (isOther(fingerprintOf(this.version) ?? versions.version(name), arrived))
      throw new OtherVersion(body.length === undefined || body.length === told)
    if (told !== undefined && body.length !== undefined && told !== body.length)
      throw new OtherLength(told, body.length)
    this.version ??= body.version
    this.length ??= body.length
    versions.met(name, arrived)
  }

  private async pull(needed: number): Promise<void> {
    const next = await this.pieces?.next()
    if (next === undefined || next.done === true) {
      this.isDone = true
      return
    }
    this.held.push(next.value)
    this.end += next.value.length
    const keepFrom = Math.min(needed, this.end - behindBytes)
    for (let [first] = this.held; first !== undefined; [first] = this.held) {
      if (this.start + first.length > keepFrom) return
      this.start += first.length
      this.held.shift()
    }
  }

  private copy(offset: number, into: Uint8Array): number {
    let filled = 0
    let position = this.start
    for (const piece of this.held) {
      const skip = offset + filled - position
      position += piece.length
      if (skip >= piece.length) continue
      const part = piece.subarray(skip, skip + into.length - filled)
      into.set(part, filled)
      filled += part.length
      if (filled === into.length) break
    }
    return filled
  }
}

const unproven = (): Failure =>
  new Failure(
    'broken',
    'the service sends a body whose end proves nothing, and the cache has no room to compare',
  )
