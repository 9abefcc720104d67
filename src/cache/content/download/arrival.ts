// Arrival: the download of one content under way, short or long; a short one whose answer is none for one buffer goes on as a long one.
import { Failure } from '../../../failure.js'
import { type Body, byteOffset } from '../../../remote/remote.js'
import { shortBytes } from '../store/checksum.js'
import {
  Download,
  type DownloadPorts,
  type DownloadSource,
  PrefetchAbandoned,
  type PrefetchRequest,
} from './download.js'
import type { Priority } from './ranges.js'
import { NotSmall, SmallDownload } from './small.js'

export interface ArrivalSource extends DownloadSource {
  /** It has failed for good, or is not wanted. */
  readonly ended: (reason: unknown) => void
  /** Nothing is under way any more. */
  readonly over: () => void
}

export class Arrival {
  current: SmallDownload | Download | undefined
  /** Resolves when what was begun last is kept, or has failed. */
  settled: Promise<void> = Promise.resolve()
  #isLong = false

  constructor(
    private readonly ports: DownloadPorts,
    private readonly source: ArrivalSource,
  ) {}

  /** The download under way, begun now if there is none. */
  begin(priority: Priority, most = Number.POSITIVE_INFINITY): SmallDownload | Download {
    const arriving = this.current ?? (this.#mayBeShort ? this.#short(priority, most) : this.#long())
    arriving.wantMost(most)
    return arriving
  }

  /**
   * Downloads all of it; its length in bytes when it is whole, or left alone because it is longer than wanted.
   * @throws Failure 'timeout' where it was called off
   */
  async whole(guess: PrefetchRequest): Promise<number> {
    const { context, most } = guess
    const arriving = this.begin(context.priority, most)
    if (arriving instanceof Download) arriving.fetchAll(guess)
    try {
      return (await arriving.whole).checksum.length
    } catch (error) {
      if (error instanceof NotSmall) return this.whole(guess)
      if (!(error instanceof PrefetchAbandoned)) throw error
      if (error.bytes <= most) throw new Failure('timeout', 'the guess was given up')
      const { length, print } = arriving
      if (length !== undefined)
        this.ports.versions.remember(this.source.name, length, { modified: print?.date })
      return error.bytes
    }
  }

  /** As far as is known: its answer tells. */
  get #mayBeShort(): boolean {
    const { name } = this.source
    const { versions } = this.ports
    return !this.#isLong && (versions.length(name) ?? 0) <= shortBytes && !versions.isDoubted(name)
  }

  #short(priority: Priority, most: number): SmallDownload {
    const { name, fetch } = this.source
    const { versions } = this.ports
    const ask = () => fetch({ start: byteOffset(0), end: undefined }, priority, undefined)
    const started = new SmallDownload({ name, told: versions.length(name), versions, fetch: ask }, most)
    this.current = started
    this.settled = this.#keep(started)
    return started
  }

  /** `body` is the answer to its first request, where that was sent already. */
  #long(body?: Body): Download {
    let first = body
    const started = new Download(this.ports, {
      ...this.source,
      fetch: async (span, priority, of) => {
        const handed = span.start === 0 ? first : undefined
        first = undefined
        return handed ?? this.source.fetch(span, priority, of)
      },
    })
    this.current = started
    this.settled = this.#keep(started)
    return started
  }

  async #keep(started: SmallDownload | Download): Promise<void> {
    const { kept, lru } = this.ports
    const { name, ended, over } = this.source
    try {
      const whole = await started.whole
      const keeping = kept.keep(name, whole, started.print)
      if (keeping !== undefined) await keeping
    } catch (error) {
      if (error instanceof NotSmall) return this.#goLong(error.body, started.most)
      ended(error)
    } finally {
      if (started === this.current) this.current = undefined
      if (started instanceof SmallDownload) started.release()
      else lru.endParts(name)
    }
    over()
  }

  /** Its readers come again, and find the longer way begun. */
  #goLong(body: Body | undefined, most: number): Promise<void> {
    this.#isLong = true
    const started = this.#long(body)
    started.wantMost(most)
    started.ask('guess')
    return this.settled
  }
}
