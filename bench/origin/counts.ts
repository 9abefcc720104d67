// Counters of the origin's requests: by door, method and kind, and by file; a log line each where wanted.
import { createWriteStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'

export type Door = 'rest' | 'files' | 'dav'

export interface Count {
  readonly requests: number
  /** Bytes of bodies, as handed to the connection; after an abort up to 256 KiB of them were not sent. */
  readonly bytes: number
}

/** Everything since the start or the last reset. */
export interface Counts extends Count {
  /** By `door METHOD kind`: `rest HEAD bitstream`, `files GET list`, `dav PROPFIND list`. */
  readonly of: Readonly<Record<string, Count>>
  /** Of the file with the most requests: GETs with a body, HEADs, and bytes sent by size of the file. */
  readonly mostGets: number
  readonly mostHeads: number
  readonly mostShare: number
  /** Files of which a body was requested. */
  readonly files: number
  /** Connections that were opened. */
  readonly connections: number
  /** The most requests of which each began when the answer before it had come back; over a link without delay all. */
  readonly inSequence: number
  /** Bytes sent of each file, those of answers on their way included: its key, the bytes. */
  readonly contents: readonly (readonly [key: string, bytes: number])[]
}

/** What a door states of one request as soon as it is known. */
export interface Asked {
  kind: string
  /** Set for the content of a file: its key and its size in bytes. */
  file?: { readonly key: string; readonly size: number } | undefined
  bytes: number
}

export interface Counter {
  /** Counts this request once its answer has ended, however it ended. */
  begin(door: Door, request: IncomingMessage, response: ServerResponse): Asked
  connected(): void
  /** The counters; `reset` sets them to zero. */
  take(reset: boolean): Counts
  /** Resolves when the log is written. */
  close(): Promise<void>
}

/** A request that is not counted yet. */
interface Open {
  readonly asked: Asked
  /** Milliseconds, as `performance.now()` tells them. */
  readonly began: number
  /** Bytes that an earlier `take` has told of already. */
  told: number
}

interface FileCount {
  gets: number
  heads: number
  share: number
}

/** @param roundTrip milliseconds: a client that waited for an answer asks again so long after it was sent at least */
export function openCounter(logFile: string | undefined, roundTrip: number): Counter {
  // The relay may be half a millisecond early, each way.
  const gap = Math.max(0, roundTrip - 1)
  const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' })
  let of = new Map<string, { requests: number; bytes: number }>()
  let files = new Map<string, FileCount>()
  const open = new Set<Open>()
  let contents = new Map<string, number>()
  let connections = 0
  let inSequence = 0
  let lastEnd = Number.NEGATIVE_INFINITY

  function tellContents(one: Open): void {
    const { asked, told } = one
    if (asked.file === undefined || asked.bytes === told) return
    contents.set(asked.file.key, (contents.get(asked.file.key) ?? 0) + asked.bytes - told)
    one.told = asked.bytes
  }

  /** Requests are met here in the order of their ends, in which the longest sequence is found by taking each that fits. */
  function countSequence(began: number): void {
    if (began < lastEnd + gap) return
    inSequence += 1
    lastEnd = performance.now()
  }

  function ended(door: Door, request: IncomingMessage, status: number, asked: Asked): void {
    const method = request.method ?? ''
    const name = `${door} ${method} ${asked.kind}`
    const count = of.get(name) ?? { requests: 0, bytes: 0 }
    count.requests += 1
    count.bytes += asked.bytes
    of.set(name, count)
    if (asked.file !== undefined) countFile(door, asked.file, { method, bytes: asked.bytes })
    log?.write(`${JSON.stringify(lineOf(door, request, status, asked))}\n`)
  }

  function countFile(
    door: Door,
    { key, size }: NonNullable<Asked['file']>,
    { method, bytes }: { method: string; bytes: number },
  ): void {
    const at = `${door} ${key}`
    const count = files.get(at) ?? { gets: 0, heads: 0, share: 0 }
    if (method === 'HEAD') count.heads += 1
    else if (bytes > 0) count.gets += 1
    count.share += size === 0 ? 0 : bytes / size
    files.set(at, count)
  }

  return {
    begin(door, request, response) {
      const asked: Asked = { kind: 'unknown', bytes: 0 }
      const one: Open = { asked, began: performance.now(), told: 0 }
      open.add(one)
      response.once('close', () => {
        open.delete(one)
        tellContents(one)
        countSequence(one.began)
        ended(door, request, response.statusCode, asked)
      })
      return asked
    },
    connected() {
      connections += 1
    },
    take(reset) {
      for (const one of open) tellContents(one)
      const taken = { ...totals(of), ...mosts(files), connections, inSequence, contents: [...contents] }
      if (reset) {
        of = new Map()
        files = new Map()
        contents = new Map()
        connections = 0
        inSequence = 0
        lastEnd = Number.NEGATIVE_INFINITY
      }
      return taken
    },
    close: () => new Promise(done => (log === undefined ? done() : log.end(() => done()))),
  }
}

function totals(of: ReadonlyMap<string, Count>): Pick<Counts, 'requests' | 'bytes' | 'of'> {
  const all = [...of.values()]
  return {
    requests: all.reduce((sum, count) => sum + count.requests, 0),
    bytes: all.reduce((sum, count) => sum + count.bytes, 0),
    of: Object.fromEntries([...of].sort(([one], [other]) => (one < other ? -1 : 1))),
  }
}

function mosts(
  files: ReadonlyMap<string, FileCount>,
): Pick<Counts, 'mostGets' | 'mostHeads' | 'mostShare' | 'files'> {
  const most = { mostGets: 0, mostHeads: 0, mostShare: 0, files: 0 }
  for (const { gets, heads, share } of files.values()) {
    most.mostGets = Math.max(most.mostGets, gets)
    most.mostHeads = Math.max(most.mostHeads, heads)
    most.mostShare = Math.max(most.mostShare, share)
    most.files += gets > 0 ? 1 : 0
  }
  return most
}

const lineOf = (door: Door, { method, url, headers }: IncomingMessage, status: number, { bytes }: Asked) => ({
  time: Date.now(),
  door,
  method,
  path: url,
  ...(headers.range === undefined ? {} : { range: headers.range }),
  ...(headers['depth'] === undefined ? {} : { depth: headers['depth'] }),
  status,
  bytes,
})
