// Reading far ahead of a download: aligned stretches of 1 MiB by requests of their own, where the service honours Range.
import { LRUCache } from 'lru-cache'
import { Failure } from '../failure.js'
import { type Body, type ByteOffset, byteOffset } from '../remote/remote.js'

/** A read of a content whose length the service has told. */
export interface AheadRead {
  readonly key: string
  readonly offset: number
  readonly into: Uint8Array
  readonly length: number
  readonly fetch: (start: ByteOffset) => Promise<Body>
}

export interface Ahead {
  /** The number of bytes filled; undefined where the service answers such requests from the start. */
  read(read: AheadRead): Promise<number | undefined>
  /** Whether any stretch of a content was asked for; false for a service that does not honour Range. */
  readonly possible: boolean
  forget(key: string): void
}

const stretchBytes = 1 << 20
/** 16 MiB at most, all contents together. */
const stretchesInMemory = 16

/** A service is asked once whether it honours Range; what it answered holds for this process. */
export function openAhead(): Ahead {
  const stretches = new LRUCache<string, Promise<Uint8Array | undefined>>({ max: stretchesInMemory })
  let refused = false

  async function fetchStretch(read: AheadRead, start: number): Promise<Uint8Array | undefined> {
    const body = await read.fetch(byteOffset(start))
    if (body.start === start) return collect(body, Math.min(stretchBytes, read.length - start))
    body.cancel()
    refused = true
    return undefined
  }

  function stretch(read: AheadRead, start: number): Promise<Uint8Array | undefined> {
    const name = `${start} ${read.key}`
    const known = stretches.get(name)
    if (known !== undefined) return known
    const coming = fetchStretch(read, start)
    stretches.set(name, coming)
    coming.catch(() => stretches.delete(name))
    return coming
  }

  return {
    get possible() {
      return !refused
    },
    async read(read) {
      const end = Math.min(read.offset + read.into.length, read.length)
      const first = read.offset - (read.offset % stretchBytes)
      for (let start = first; start < end; start += stretchBytes) {
        if (refused) return undefined
        const bytes = await stretch(read, start)
        if (bytes === undefined) return undefined
        const from = Math.max(0, read.offset - start)
        read.into.set(bytes.subarray(from, end - start), start + from - read.offset)
      }
      return end - read.offset
    },
    forget(key) {
      for (const name of stretches.keys()) if (name.endsWith(` ${key}`)) stretches.delete(name)
    },
  }
}

async function collect(body: Body, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let filled = 0
  try {
    for await (const piece of body.bytes) {
      const part = piece.subarray(0, length - filled)
      bytes.set(part, filled)
      filled += part.length
      if (filled === length) return bytes
    }
  } finally {
    body.cancel()
  }
  throw new Failure('broken', `a part of a file ended after ${filled} of ${length} bytes`)
}
