// Small content: one request into one buffer; whatever is no plain short answer goes the longer way.
import { Failure } from '../../../failure.js'
import { lendMemory } from '../../../lent-memory.js'
import type { Body } from '../../../remote/remote.js'
import { chunkSum, shortBytes } from '../store/checksum.js'
import type { CompleteContent } from '../store/kept-files.js'
import {
  type ContentVersions,
  fingerprintOf,
  isOther,
  OtherLength,
  OtherVersion,
  type VersionFingerprint,
} from '../store/versions.js'
import { PrefetchAbandoned } from './download.js'

export interface SmallSource {
  readonly name: string
  /** As the service told it, in bytes. */
  readonly told: number | undefined
  readonly versions: ContentVersions
  readonly fetch: () => Promise<Body>
}

/** The answer is none for one buffer: longer, of no stated length, a page, or cut. */
export class NotSmall extends Error {
  /** `body` is its answer, of which nothing was taken; undefined where it was cut. */
  constructor(readonly body: Body | undefined) {
    super('the content goes the longer way')
  }
}

interface Reader {
  readonly end: number
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** Begins at once. Bytes are given as they come: the head has said how many there are. */
export class SmallDownload {
  /** Settles once: with everything, or with why not (a Failure, a Contradiction, `NotSmall`, `PrefetchAbandoned`). */
  readonly whole: Promise<CompleteContent>
  print: VersionFingerprint | undefined
  arrived = 0
  /** In bytes, once the head has come. */
  length: number | undefined
  #bytes: Buffer | undefined
  #body: Body | undefined
  #failure: { readonly reason: unknown } | undefined
  #isWhole = false
  #readers: Reader[] = []
  #settle!: (outcome: CompleteContent | Promise<never>) => void

  /** It is under way until it has ended. */
  readonly resting = false

  /** Beyond `most` bytes it is not wanted. */
  constructor(
    private readonly source: SmallSource,
    public most: number,
  ) {
    this.whole = new Promise(settle => {
      this.#settle = settle
    })
    void this.#run()
  }

  get completing(): boolean {
    return this.length !== undefined && this.arrived === this.length
  }

  /** A reader wants all of it, a guess so many bytes. */
  wantMost(bytes: number): void {
    this.most = Math.max(this.most, bytes)
  }

  /** Resolves when these bytes may be read, or there are no more; undefined where they may now. */
  reach(end: number): Promise<void> | undefined {
    if (this.#has(end)) return undefined
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason)
    return new Promise((resolve, reject) => this.#readers.push({ end, resolve, reject }))
  }

  /** The bytes at once; undefined where some have not come. */
  readNow(offset: number, into: Uint8Array): number | undefined {
    if (!this.#has(offset + into.length)) return undefined
    const bytes = this.#bytes
    // Before the first piece there is nothing, of which a read of no bytes takes all.
    if (bytes === undefined) return into.length === 0 ? 0 : undefined
    const part = bytes.subarray(Math.min(offset, bytes.length), offset + into.length)
    into.set(part)
    return part.length
  }

  /** Its memory has another owner. */
  release(): void {
    this.#bytes = undefined
  }

  /** Who waits hears the reason. */
  stop(reason: unknown): void {
    if (this.#failure !== undefined || this.#isWhole) return
    this.#failure = { reason }
    if (!(reason instanceof NotSmall)) this.#body?.cancel()
    for (const reader of this.#readers.splice(0)) reader.reject(reason)
    this.#settle(Promise.reject(reason))
  }

  callOff(): void {
    if (this.most < Number.POSITIVE_INFINITY) this.stop(new PrefetchAbandoned(0))
  }

  #has(end: number): boolean {
    return this.length !== undefined && this.arrived >= Math.min(end, this.length)
  }

  async #run(): Promise<void> {
    try {
      const body = await this.source.fetch()
      this.#body = body
      if (this.#failure !== undefined) return body.cancel()
      const length = this.#lengthOf(body)
      this.#wake()
      await this.#take(body, length)
    } catch (thrown) {
      this.stop(thrown)
    }
  }

  /** Checks the head. @throws NotSmall, PrefetchAbandoned, Contradiction */
  #lengthOf(body: Body): number {
    const { name, told, versions } = this.source
    const print = fingerprintOf(body.version)
    const { length } = body
    if (isOther(versions.version(name), print))
      throw new OtherVersion(length === undefined || length === told)
    const isPlain =
      body.ends === 'proven' && body.isPage !== true && body.start === 0 && body.end === undefined
    if (!isPlain || length === undefined || length > shortBytes || length === 0) throw new NotSmall(body)
    if (told !== undefined && told !== length) throw new OtherLength(told, length)
    this.print = print
    this.length = length
    if (length > this.most) throw new PrefetchAbandoned(length)
    versions.met(name, print)
    return length
  }

  async #take(body: Body, length: number): Promise<void> {
    try {
      for await (const piece of body.bytes) {
        if (this.#failure !== undefined) return
        this.#put(piece, length)
      }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
    const bytes = this.#bytes
    // The longer way goes on where a connection was lost.
    if (bytes === undefined || this.arrived < length) throw new NotSmall(undefined)
    this.#isWhole = true
    const checksum = { length, sums: chunkSum(bytes) }
    this.#settle({ in: 'memory', bytes, checksum, handOver: () => this.release() })
  }

  #put(piece: Uint8Array, length: number): void {
    if (this.arrived + piece.length > length) throw new OtherLength(length, undefined)
    this.#bytes ??= lendMemory(length)
    this.#bytes.set(piece, this.arrived)
    this.arrived += piece.length
    this.#wake()
  }

  #wake(): void {
    if (this.#readers.length === 0) return
    const waiting = this.#readers
    this.#readers = []
    for (const reader of waiting) {
      if (this.#has(reader.end)) reader.resolve()
      else this.#readers.push(reader)
    }
  }
}
