// Sends contents: whole or a range, never all in memory.
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Shortcomings } from '../store/options.js'
import type { StoredContent } from './contents.js'

interface Part {
  readonly start: number
  readonly end: number
}

const chunkBytes = 256 * 1024

/** Answers a GET or HEAD with a stored content (RFC 9110: ranges). */
export async function sendBitstream(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, content, path, lacks }: { name: string; content: StoredContent; path: string; lacks: Shortcomings },
): Promise<FastifyReply> {
  const { size, hash } = content
  const tag = `"${hash}"`
  const part = request.method === 'HEAD' || lacks.range ? 'whole' : partAsked(request, tag, size)
  reply.header('content-disposition', disposition(name)).header('etag', tag)
  if (!lacks.range) reply.header('accept-ranges', 'bytes')
  if (part === 'beyond') {
    return reply
      .code(416)
      .header('content-range', `bytes */${size}`)
      .send({ error: `there are only ${size} bytes` })
  }
  const sent = part === 'whole' ? { start: 0, end: size - 1 } : part
  // Opened before the head is sent, so that a lost file is a proper 500.
  const bytes = request.method === 'HEAD' ? undefined : await bytesOf(path, sent)
  reply.type('application/octet-stream')
  if (part !== 'whole') reply.code(206).header('content-range', `bytes ${part.start}-${part.end}/${size}`)
  if (!lacks.contentLength) reply.header('content-length', sent.end - sent.start + 1)
  return reply.send(bytes)
}

async function bytesOf(path: string, { start, end }: Part): Promise<Readable> {
  const file = await open(path, 'r')
  // An end before the start is refused by the stream; an empty file is simply read to its end.
  return file.createReadStream(end < start ? { start } : { start, end, highWaterMark: chunkBytes })
}

/** The one requested range. Several at once, other units and a changed If-Range get everything, as RFC 9110 allows. */
function partAsked(request: FastifyRequest, tag: string, size: number): Part | 'whole' | 'beyond' {
  const condition = request.headers['if-range']
  if (condition !== undefined && condition !== tag) return 'whole'
  const written = /^bytes=\s*([0-9]*)-([0-9]*)\s*$/.exec(request.headers.range ?? '')
  const [, first = '', last = ''] = written ?? []
  if (written === null || (first === '' && last === '')) return 'whole'
  if (first === '') return lastBytes(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'beyond' : { start, end }
}

const lastBytes = (count: number, size: number): Part | 'beyond' =>
  count === 0 || size === 0 ? 'beyond' : { start: Math.max(0, size - count), end: size - 1 }

/** The header that names a download, also where the name is not ASCII (RFC 6266). */
function disposition(fileName: string): string {
  const safe = Buffer.from(fileName.replace(/[\p{Cc}/\\]/gu, '_')).toString()
  const ascii = safe.replace(/[^\x20-\x7e]|["%]/g, '_')
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
