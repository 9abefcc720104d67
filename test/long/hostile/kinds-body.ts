// Odd bodies and connections: cut, too long, of another thing, slow, silent, reset, and followed by unrequested bytes.
import { type Answer, chunked, nothing, said, type Wire } from './answer.js'
import { framed, type Kind } from './kind.js'
import { unchunked } from './kinds-head.js'

const totalOf = (wire: Wire): number => wire.head.length + wire.body.length

/** Something happens after a part of the answer; `of` gives how many bytes of it go out. */
const cutAfter = (name: string, by: 'fin' | 'reset' | 'stall', of: (wire: Wire) => number): Kind => ({
  name: `${name}: ${by}`,
  wire: wire => ({ ...wire, cut: { at: Math.max(0, Math.min(of(wire), totalOf(wire))), by } }),
})

const cuts: readonly Kind[] = (['fin', 'reset', 'stall'] as const).flatMap(by => [
  cutAfter('nothing', by, () => 0),
  cutAfter('half a status line', by, () => 7),
  cutAfter('half a head', by, wire => wire.head.length >> 1),
  cutAfter('the head without its last byte', by, wire => wire.head.length - 1),
  cutAfter('the head alone', by, wire => wire.head.length),
  cutAfter('one byte of the body', by, wire => wire.head.length + 1),
  cutAfter('half the body', by, wire => wire.head.length + (wire.body.length >> 1)),
  cutAfter('all but one byte', by, wire => totalOf(wire) - 1),
  cutAfter('everything, and then', by, totalOf),
])

/** A body with a proper length that is not the thing's. */
const replaced = (name: string, body: (answer: Answer) => Buffer | string, type?: string): Kind => ({
  name,
  lies: true,
  change: answer => ({
    ...answer,
    ...(type === undefined ? {} : { headers: said(200, '', type).headers }),
    body: Buffer.from(body(answer)),
    framing: typeof answer.framing === 'object' ? { told: Buffer.from(body(answer)).length } : answer.framing,
  }),
})

const lies: readonly Kind[] = [
  replaced('five bytes short', ({ body }) => body.subarray(0, -5)),
  replaced('one byte short', ({ body }) => body.subarray(0, -1)),
  replaced('twice', ({ body }) => Buffer.concat([body, body])),
  replaced('nothing', () => ''),
  replaced('a BOM before it', ({ body }) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
  replaced('an error in JSON', () => '{"error":"the session has ended"}', 'application/json'),
  replaced('an error in plain words', () => 'Internal Server Error\n', 'text/plain'),
]

const page = '<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>'

/** A well-formed body of another length; what stands behind it belongs to no answer. */
const endsEarly = 'an early last chunk'

const hex = (length: number): string => length.toString(16)
const oneChunk = (head: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${head}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])

/** Chunks that are none; each ends the connection, so that nothing waits. */
const chunks: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  'chunks without the last one': body => chunked(body, 65_536, ''),
  [endsEarly]: body =>
    Buffer.concat([chunked(body.subarray(0, body.length >> 1)), chunked(body.subarray(body.length >> 1))]),
  'a chunk that is shorter than stated': body => oneChunk(hex(body.length + 9), body),
  'a chunk that is longer than stated': body => oneChunk(hex(Math.max(1, body.length - 9)), body),
  'a chunk size that is none': body => oneChunk('zz', body),
  'a chunk extension of 1 MB': body => oneChunk(`${hex(body.length)};${'e'.repeat(1 << 20)}`, body),
  'chunks of seven bytes': body =>
    Buffer.concat([chunked(body.subarray(0, 30_000), 7, ''), chunked(body.subarray(30_000))]),
  'chunks with trailers': body => chunked(body, 65_536, '0\r\nX-Trailer: odd\r\n\r\n'),
}

/** Bytes behind the answer, on a connection that is kept. */
const behind: Readonly<Record<string, (wire: Wire) => Buffer>> = {
  'junk behind it': () => Buffer.from('junk junk junk'),
  'a second answer behind it': () => Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad'),
  'the same answer behind it': wire => Buffer.concat([wire.head, wire.body]),
  'a 408 behind it': () =>
    Buffer.from('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
}

const paces: Readonly<Record<string, Partial<Wire>>> = {
  'a moment of silence before': { delay: 300 },
  'the deadline of silence before': { delay: 1_500 },
  'ten seconds of silence before': { delay: 10_000 },
  'a byte every 200 ms': { pace: { bytes: 1, milliseconds: 200 } },
  '64 bytes every 20 ms': { pace: { bytes: 64, milliseconds: 20 } },
  '16 kB every 20 ms': { pace: { bytes: 16_384, milliseconds: 20 } },
}

export const bodyKinds: readonly Kind[] = [
  ...cuts,
  ...lies,
  { ...replaced('a page', () => page, 'text/html'), name: 'a page' },
  { ...replaced('a page without a type', () => page, ''), name: 'a page without a type' },
  { name: 'until the end of the connection', change: answer => ({ ...answer, framing: 'close' }) },
  {
    name: 'cut at one place, until the end of the connection',
    lies: true,
    change: answer => ({
      ...answer,
      framing: 'close',
      body: answer.body.subarray(0, answer.body.length >> 1),
    }),
  },
  {
    name: 'cut anywhere, until the end of the connection',
    change: (answer, { pick }) => ({
      ...answer,
      framing: 'close',
      body: answer.body.subarray(0, pick.whole(0, answer.body.length)),
    }),
  },
  {
    name: 'HTTP/1.0 until the end',
    change: answer => ({ ...answer, version: 'HTTP/1.0', framing: 'close' }),
  },
  { name: 'no framing, and the connection is kept', change: answer => ({ ...answer, framing: 'none' }) },
  ...[
    ['5 too few stated', -5],
    ['5 too many stated', 5],
    ['twice as much stated', 'double'],
    ['nothing stated', 'zero'],
  ].map(
    ([name, by]): Kind => ({
      name: `${name}`,
      lies: true,
      change: unchunked,
      wire: (wire, _, { body }) => ({
        ...framed(
          `Content-Length: ${by === 'double' ? body.length * 2 : by === 'zero' ? 0 : Math.max(0, body.length + Number(by))}`,
        ).wire(wire),
        after: 'fin',
      }),
    }),
  ),
  ...Object.entries(chunks).map(
    ([name, encode]): Kind => ({
      name,
      ...(name === endsEarly ? { lies: true } : {}),
      wire: (wire, { asked }, { body }) => ({
        ...framed('Transfer-Encoding: chunked').wire(wire),
        body: asked.method === 'HEAD' ? nothing : encode(body),
        after: 'fin',
      }),
    }),
  ),
  ...Object.entries(behind).map(
    ([name, tail]): Kind => ({ name, wire: wire => ({ ...wire, tail: tail(wire) }) }),
  ),
  ...Object.entries(paces).map(([name, how]): Kind => ({ name, wire: wire => ({ ...wire, ...how }) })),
  {
    name: 'a body behind the answer to HEAD',
    wire: (wire, { asked }, { body }) =>
      asked.method === 'HEAD' ? { ...wire, body: body.subarray(0, 100) } : wire,
  },
  {
    name: 'Connection: close on a connection that is kept',
    change: unchunked,
    wire: wire => ({ ...framed('Connection: close', `Content-Length: ${wire.body.length}`).wire(wire) }),
  },
  { name: 'keep-alive, and closed at once', wire: wire => ({ ...wire, after: 'reset' }) },
]
