// Sends the origin's bytes: a text at once, a file in stretches as fast as the connection takes them, whole or a range.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { longestStretch, stretch } from '../trees/bytes.js'
import { modifiedOf, type TreeFile } from '../trees/paths.js'
import type { Asked } from './counts.js'

/** One request on its way through a door. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly asked: Asked
}

type Headers = Readonly<Record<string, string | number>>

/** A short answer, without a body for HEAD. */
export function sendText(
  { request, response, asked }: Exchange,
  status: number,
  body: string | Buffer,
  headers: Headers,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  if (request.method === 'HEAD') return void response.end()
  asked.bytes += Buffer.byteLength(body)
  response.end(body)
}

/** Both ends counted in. */
interface Part {
  readonly start: number
  readonly end: number
}

/**
 * A file for GET or HEAD, or the one range that is requested (RFC 9110). `validators` adds a web server's validators
 * of a file, and answers 304 to a client that has it; the platform's REST interface has none.
 */
export function sendFile(exchange: Exchange, file: TreeFile, validators: 'validators' | 'none'): void {
  const { request, response, asked } = exchange
  asked.file = { key: `${file.calculation}/${file.name}`, size: file.size }
  const headers: Record<string, string | number> = {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    ...(validators === 'validators' ? ageOf(file) : {}),
  }
  if (validators === 'validators' && isKnown(request, file)) {
    response.writeHead(304, headers).end()
    return
  }
  const part = partOf(request.headers.range, file.size)
  if (part === 'beyond') {
    headers['content-range'] = `bytes */${file.size}`
    sendText(exchange, 416, '', headers)
    return
  }
  const { start, end } = part ?? { start: 0, end: file.size - 1 }
  if (part !== undefined) headers['content-range'] = `bytes ${start}-${end}/${file.size}`
  headers['content-length'] = end - start + 1
  response.writeHead(part === undefined ? 200 : 206, headers)
  if (request.method === 'HEAD') return void response.end()
  pour(exchange, file, { start, end })
}

function pour({ response, asked }: Exchange, file: TreeFile, { start, end }: Part): void {
  let at = start
  const more = (): void => {
    while (at <= end) {
      if (response.destroyed) return
      const bytes = stretch(file, at, Math.min(longestStretch, end - at + 1))
      at += bytes.length
      asked.bytes += bytes.length
      if (at > end) return void response.end(bytes)
      if (!response.write(bytes)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}

/** The tag of a file that never changes. */
export const tagOf = (file: TreeFile): string =>
  `"${file.calculation.toString(16)}-${file.start.toString(16)}"`

const ageOf = (file: TreeFile): Headers => ({
  'last-modified': new Date(modifiedOf(file.calculation)).toUTCString(),
  etag: tagOf(file),
})

function isKnown({ headers }: IncomingMessage, file: TreeFile): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return tags.includes(tagOf(file))
  const since = headers['if-modified-since']
  return since !== undefined && Date.parse(since) >= modifiedOf(file.calculation)
}

function partOf(range: string | undefined, size: number): Part | 'beyond' | undefined {
  const written = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (written === null) return undefined
  const [, first = '', last = ''] = written
  if (first === '' && last === '') return undefined
  if (first === '') {
    const count = Number(last)
    return count === 0 || size === 0 ? 'beyond' : { start: Math.max(0, size - count), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start >= size ? 'beyond' : end < start ? undefined : { start, end }
}
