// Pin fetch: the contents of one pin are brought to this disk in the background, as many side by side as there is room for.
import { setImmediate } from 'node:timers/promises'
import type { LimitFunction } from 'p-limit'
import type { ContentCache } from '../../cache/content/content.js'
import { asFailure, Failure, type FailureKind, isA, isAbsent } from '../../failure.js'
import { type Clock, dueIn } from '../../remote/clock.js'
import type { RequestContext } from '../../remote/remote.js'
import type { PinLine } from '../interface/control.js'
import type { Pin } from './pin-store.js'
import type { MissingPart, PlacedContent } from './subtree.js'

export interface PinFetchParts {
  readonly content: Pick<ContentCache, 'size' | 'knownSize' | 'keepWhole' | 'isOnDisk' | 'cached'>
  /** Requests of all pins together. */
  readonly limit: LimitFunction
  readonly clock: Clock
  /** Milliseconds for a question. */
  readonly patience: number
}

/** A content with its length in bytes. */
export interface SizedContent extends PlacedContent {
  readonly bytes: number
}

export interface Sized {
  readonly contents: readonly SizedContent[]
  /** Those whose size could not be had, whatever the reason. */
  readonly unsized: readonly PlacedContent[]
  readonly missing: readonly MissingPart[]
}

/** Milliseconds after which a file on its way is looked at: it goes on as long as bytes come. */
const fileDeadline = 60_000
/** Files of one pin side by side. */
const sideBySide = 16
/** Files that are looked for on the disk before others have their turn. */
const lookedAtOnce = 256

export function openPinFetch({ content, limit, clock, patience }: PinFetchParts) {
  const background = (milliseconds: number): RequestContext => dueIn(milliseconds, clock, 'guess')

  /** Does the work for each, side by side, so that all pins get their turns; the first failure that is thrown ends it. */
  async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    const waiting = items.values()
    let isOver = false
    async function goOn(): Promise<void> {
      for (const item of waiting) {
        if (isOver) return
        try {
          await work(item)
        } catch (thrown) {
          isOver = true
          throw thrown
        }
      }
    }
    const ended = await Promise.allSettled(Array.from({ length: sideBySide }, goOn))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  /** @throws Failure of an outage */
  async function sizes(contents: readonly PlacedContent[]): Promise<Sized> {
    const found: SizedContent[] = []
    const unsized: PlacedContent[] = []
    const missing: MissingPart[] = []
    await forEach(contents, async one => {
      try {
        const bytes =
          content.knownSize(one.content) ??
          (await limit(() => content.size(one.content, background(patience))))
        found.push({ ...one, bytes })
      } catch (thrown) {
        const failure = refusalIn(thrown)
        unsized.push(one)
        if (!isAbsent(failure)) missing.push({ path: one.path, failure })
      }
    })
    return { unsized, missing, contents: found.sort((one, other) => (one.path < other.path ? -1 : 1)) }
  }

  /** Which of them are on this disk. */
  async function present(contents: readonly SizedContent[]): Promise<ReadonlySet<SizedContent>> {
    const here = new Set<SizedContent>()
    for (const [at, one] of contents.entries()) {
      if (at % lookedAtOnce === lookedAtOnce - 1) await setImmediate()
      // An empty file has no bytes to keep.
      if (one.bytes === 0 || content.isOnDisk(one.content)) here.add(one)
    }
    return here
  }

  /** A long file may take longer than any deadline, as long as its bytes come. */
  async function keepWhole({ content: wanted }: SizedContent, mayGoOn: () => void): Promise<void> {
    for (let before = -1; ; ) {
      mayGoOn()
      try {
        await content.keepWhole(wanted, background(fileDeadline))
        return
      } catch (thrown) {
        const share = content.cached(wanted)
        if (asFailure(thrown).kind !== 'timeout' || share <= before) throw thrown
        before = share
      }
    }
  }

  return {
    sizes,
    present,
    /**
     * Brings the rest here; `kept` is told of each. Answers what cannot be had.
     * @throws Failure of an outage, of a full disk, or what `mayGoOn` throws
     */
    async fetch(
      wanted: readonly SizedContent[],
      {
        begun,
        kept,
        mayGoOn,
      }: {
        readonly begun: (one: SizedContent) => void
        readonly kept: (one: SizedContent) => void
        readonly mayGoOn: () => void
      },
    ): Promise<readonly MissingPart[]> {
      const missing: MissingPart[] = []
      await forEach(wanted, async one => {
        try {
          await limit(() => {
            mayGoOn()
            begun(one)
            return keepWhole(one, mayGoOn)
          })
          // The disk may have refused it, and a reader gets it all the same.
          if (one.bytes > 0 && !content.isOnDisk(one.content))
            throw new Failure('no-space', 'the cache directory took no more of it')
          kept(one)
        } catch (thrown) {
          const failure = refusalIn(thrown)
          if (!isAbsent(failure)) missing.push({ path: one.path, failure })
        }
      })
      return missing
    },
  }
}

export type PinFetch = ReturnType<typeof openPinFetch>

/** Faults of one file alone: another version, contradicting lengths, what the service cannot make. */
const ofOneFile: readonly FailureKind[] = ['broken', 'replaced']

/** The failure of one file, which keeps no other from being fetched. @throws every other one */
function refusalIn(thrown: unknown): Failure {
  const failure = asFailure(thrown)
  if (ofOneFile.includes(failure.kind)) return failure
  if (isA('outage', failure) || wholeDisk.includes(failure.kind)) throw failure
  return failure
}

const wholeDisk: readonly FailureKind[] = ['no-space', 'disk-read-only', 'internal', 'unauthenticated']

/** One pin's state in this process. */
export class PinProgress {
  state: PinLine['state'] = 'looking'
  because: string | undefined
  /** How many files there are, and what is known of each. */
  files = 0
  bytes = 0
  /** Whether all of it was looked at in this process. */
  isFound = false
  #filesKept = 0
  #bytesKept = 0
  readonly #coming = new Set<SizedContent>()

  constructor(private readonly share: (one: SizedContent) => number) {}

  /** All of it was looked at: these are here. */
  found(all: readonly SizedContent[], here: ReadonlySet<SizedContent>): void {
    this.isFound = true
    this.files = all.length
    this.bytes = sum(all)
    this.#filesKept = here.size
    this.#bytesKept = sum(here)
    this.#coming.clear()
  }

  begun(one: SizedContent): void {
    this.#coming.add(one)
  }

  kept(one: SizedContent): void {
    this.#coming.delete(one)
    this.#filesKept += 1
    this.#bytesKept += one.bytes
  }

  stopped(state: PinLine['state'], because?: string): void {
    this.#coming.clear()
    this.state = state
    this.because = because
  }

  report({ path, target, since }: Pin): PinLine {
    const coming = [...this.#coming].reduce(
      (bytes, one) => bytes + one.bytes * Math.min(1, this.share(one)),
      0,
    )
    return {
      path,
      kind: target.kind,
      id: idOf(target),
      since,
      state: this.state,
      because: this.because,
      files: this.files,
      filesKept: this.#filesKept,
      bytes: this.bytes,
      bytesKept: Math.floor(this.#bytesKept + coming),
    }
  }
}

function idOf(target: Pin['target']): string | undefined {
  if (target.kind === 'content') return target.content.calculation
  return target.kind === 'top' ? undefined : target.id
}

function sum(all: Iterable<SizedContent>): number {
  let bytes = 0
  for (const one of all) bytes += one.bytes
  return bytes
}
