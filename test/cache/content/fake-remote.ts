// A service made by hand for the tests of the content cache: it says exactly when which bytes come, and counts what it was asked.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ContentCache } from '../../../src/cache/content/content.js'
import { Ledger } from '../../../src/cache/ledger/ledger.js'
import { Failure } from '../../../src/failure.js'
import type { MaybePromise } from '../../../src/maybe-promise.js'
import {
  type Body,
  byteCount,
  byteOffset,
  type CalculationId,
  type Content,
  type ContentVersion,
  type FileTitle,
  type Instant,
  instant,
  type Remote,
  type RequestContext,
} from '../../../src/remote/remote.js'
import { clockOf } from '../../testbed/clocks.js'

export const file = (title: string, calculation = '7'): Content => ({
  of: 'file',
  calculation: calculation as CalculationId,
  title: title as FileTitle,
})
export const xyz = (calculation: string): Content => ({
  of: 'xyz',
  calculation: calculation as CalculationId,
  title: `${calculation}.xyz` as FileTitle,
})

export const clock = (): Instant => instant(Date.now())
export const requestContext = (milliseconds = 20_000): RequestContext => ({
  deadline: instant(Date.now() + milliseconds),
  priority: 'user',
})

/** Bytes that tell where they stand, so that a wrong one shows. */
export function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  for (let place = 0; place < length; place += 1)
    bytes[place] = (place * 31 + (place >> 8) * 7 + seed * 13) & 0xff
  return bytes
}

/** What the service does with one request of a content, up to `end` if that was asked for. */
export type Send = (start: number, end: number | undefined) => SentPieces
export interface SentPieces {
  readonly start?: number
  /** Where it ends, where the service honours a Range with an end. */
  readonly end?: number | undefined
  /** Undefined where it is not sent; left out where it is that of the pieces. */
  readonly length?: number | undefined
  readonly ends?: Body['ends']
  readonly version?: ContentVersion
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface FakeRemote extends Pick<Remote, 'content' | 'contentSize' | 'contentFacts'> {
  /** Every request in order: `size`, `facts`, `get@START`, or `get@START-END`. */
  readonly asked: string[]
}

export function fakeRemote(
  send: Send,
  size?: () => MaybePromise<number | undefined>,
  version: () => ContentVersion | undefined = () => undefined,
): FakeRemote {
  const asked: string[] = []
  return {
    asked,
    async contentSize() {
      // A service that is known to tell no size is not asked for it.
      if (size !== undefined) asked.push('size')
      const bytes = await size?.()
      return bytes === undefined ? undefined : { bytes: byteCount(bytes) }
    },
    async contentFacts() {
      asked.push('facts')
      const bytes = await size?.()
      return {
        head: bytes === undefined ? undefined : byteCount(bytes),
        range: undefined,
        version: version(),
      }
    },
    async content(_content, start, _ask, end) {
      asked.push(`get@${start}${end === undefined ? '' : `-${end}`}`)
      const pieces = send(start, end)
      const length = 'length' in pieces ? pieces.length : lengthOf(pieces)
      let cancelled = false
      return {
        length: length === undefined ? undefined : byteCount(length),
        start: byteOffset(pieces.start ?? 0),
        end: pieces.end === undefined ? undefined : byteOffset(pieces.end),
        ends: pieces.ends ?? 'proven',
        version: pieces.version,
        bytes: until(pieces.bytes, () => cancelled),
        cancel: () => {
          cancelled = true
        },
      }
    },
  }
}

async function* until(bytes: AsyncIterable<Uint8Array>, ended: () => boolean): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    if (ended()) return
    yield piece
  }
}

/** Bytes piece by piece; a whole of them is sent with its length where the test says nothing else. */
export function inPieces(
  bytes: Uint8Array,
  pieceBytes: number,
): AsyncIterable<Uint8Array> & { total: number } {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
  }
  return Object.assign(pieces(), { total: bytes.length })
}

function lengthOf({ start = 0, end, bytes }: SentPieces): number | undefined {
  const isWhole = end === undefined && 'total' in bytes && typeof bytes.total === 'number'
  return isWhole ? start + Number(bytes.total) : undefined
}

export interface CacheTestbed {
  readonly directory: string
  readonly ledger: Ledger
  /** Opens a cache over this ground; all are closed with the test. */
  open(remote: FakeRemote, settings?: { limitBytes?: number; now?: () => Instant }): ContentCache
}

interface TeardownHook {
  teardown(action: () => Promise<void> | void): void
}

/** A scratch directory with a ledger; gone with the test. */
export function openCacheTestbed(test: TeardownHook): CacheTestbed {
  const directory = mkdtempSync(join(tmpdir(), 'calcfs-cache-'))
  const log = (): void => {}
  const ledger = new Ledger(directory, { clock: clockOf(clock), log })
  const caches: ContentCache[] = []
  test.teardown(async () => {
    for (const cache of caches) await cache.close()
    ledger.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    directory,
    ledger,
    open(remote, settings = {}) {
      const cache = new ContentCache({
        directory: join(directory, 'content'),
        limitBytes: settings.limitBytes ?? 1 << 30,
        ledger,
        remote,
        clock: clockOf(settings.now ?? clock),
        log,
      })
      caches.push(cache)
      return cache
    },
  }
}

/** A whole content read in blocks, as the kernel does it. */
export async function readAll(cache: ContentCache, content: Content, blockBytes = 65_536): Promise<Buffer> {
  const blocks: Buffer[] = []
  for (let offset = 0; ; ) {
    const block = Buffer.alloc(blockBytes)
    const bytes = await cache.read(content, offset, block, requestContext())
    blocks.push(block.subarray(0, bytes))
    offset += bytes
    if (bytes < blockBytes) return Buffer.concat(blocks)
  }
}

/** The kind a promise fails with; 'none' if it does not fail. */
export async function kindOf(outcome: Promise<unknown>): Promise<string> {
  const reason = await outcome.then(
    () => undefined,
    error => error,
  )
  return reason instanceof Failure ? reason.kind : String(reason ?? 'none')
}

/** Waits for the downloads to be kept, and the limit to be held again. */
export async function settled(cache: ContentCache): Promise<void> {
  while (cache.stats().downloads > 0) await new Promise(setImmediate)
  await cache.maintain()
}
