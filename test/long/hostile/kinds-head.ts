// Odd headers: lengths that contradict each other, encodings, transfer codings, and heads that are no heads.
import { gzipSync } from 'node:zlib'
import type { Chance } from '../chance.js'
import { type Answer, type Wire, withHeader, withoutHeader } from './answer.js'
import { framed, headed, type Kind, line } from './kind.js'

/** 67 MB of zeros. */
const bomb = gzipSync(Buffer.alloc(64 << 20))

const text = (bytes: string | Buffer): string => bytes.toString('latin1')

/** Lengths that are none, or contradict the body. */
const lengths: Readonly<Record<string, (length: number) => readonly string[]>> = {
  'two lengths that differ': n => [`Content-Length: ${n}`, `Content-Length: ${n - 5}`],
  'two lengths, the shorter first': n => [`Content-Length: ${n - 5}`, `Content-Length: ${n}`],
  'a list of two lengths': n => [`Content-Length: ${n}, ${n - 5}`],
  'a negative length': () => ['Content-Length: -1'],
  'a length with a plus': n => [`Content-Length: +${n}`],
  'a length beyond 2^53': () => ['Content-Length: 9007199254740993'],
  'an empty length': () => ['Content-Length:'],
  'a length in words': () => ['Content-Length: many'],
  'a folded length': n => [`Content-Length:\r\n ${n}`],
  'a length and chunks': n => [`Content-Length: ${n}`, 'Transfer-Encoding: chunked'],
  'chunks and a length, unchunked': n => ['Transfer-Encoding: chunked', `Content-Length: ${n}`],
  'an unknown transfer coding': n => [`Content-Length: ${n}`, 'Transfer-Encoding: odd'],
}

const shapes: Readonly<Record<string, (wire: Wire) => Wire>> = {
  'bare line feeds': wire => headed(wire, lines => lines, '\n'),
  'a value with a bare CR': wire => line('Odd: o\rContent-Length: 3').wire(wire),
  'a folded header': wire => line('Odd: one\r\n two').wire(wire),
  'a header of 2 MB': wire => line(`Odd: ${'o'.repeat(2 << 20)}`).wire(wire),
  '10,000 headers': wire =>
    line(Array.from({ length: 10_000 }, (_, at) => `X-${at}: ${at}`).join('\r\n')).wire(wire),
  'no blank line after the head': wire => ({
    ...wire,
    head: Buffer.from(`${text(wire.head).trimEnd()}\r\n`, 'latin1'),
  }),
}

const encoded = (name: string, header: string, encode: (body: Buffer) => Buffer): Kind => ({
  name,
  lies: true,
  change: answer => ({ ...withHeader(answer, 'Content-Encoding', header), body: encode(answer.body) }),
})

const types = ['text/html', 'application/json; charset=utf-16le', 'text/plain', '']

/** One header more. */
const more = (name: string, header: string, value: (pick: Chance) => string): Kind => ({
  name,
  change: (answer, { pick }) => withHeader(answer, header, value(pick)),
})
/** Another range than that of the answer. */
const ranged = (name: string, change: (range: string) => string): Kind => ({
  name,
  change: answer => ({
    ...answer,
    headers: answer.headers.map(
      ([one, value]) => [one, one === 'Content-Range' ? change(value) : value] as const,
    ),
  }),
})
const seven = (place: string): number => Number(place) + 7

const validators: readonly Kind[] = [
  more('another ETag each time', 'ETag', pick => `"${pick.word(8, 8)}"`),
  more('a weak ETag', 'ETag', () => 'W/"x"'),
  more('an ETag that is none', 'ETag', () => 'x"y'),
  more('Last-Modified now', 'Last-Modified', () => new Date().toUTCString()),
  more('Last-Modified that is none', 'Last-Modified', () => 'yesterday'),
  more('Vary: *', 'Vary', () => '*'),
  more('a Content-Range on everything', 'Content-Range', () => 'bytes 0-1/2'),
  {
    name: 'a Content-Range that is none',
    change: answer => withHeader(withoutHeader(answer, 'content-range'), 'Content-Range', 'odd'),
  },
  ranged('a Content-Range without a total', range => range.replace(/\/\d+/, '/*')),
  ranged('a Content-Range of another part', range =>
    range.replace(/(\d+)-(\d+)/, (_, from, to) => `${seven(from)}-${seven(to)}`),
  ),
  {
    name: '206 without Content-Range',
    change: answer => ({ ...withoutHeader(answer, 'content-range'), status: 206 }),
  },
]

/** A length stands before the bytes themselves. */
export const unchunked = (answer: Answer): Answer =>
  answer.framing === 'chunked' ? { ...answer, framing: 'length' } : answer

export const headKinds: readonly Kind[] = [
  ...Object.entries(lengths).map(
    ([name, headers]): Kind => ({
      name,
      change: unchunked,
      wire: (wire, _, answer) => framed(...headers(answer.body.length)).wire(wire),
    }),
  ),
  ...Object.entries(shapes).map(([name, wire]): Kind => ({ name, wire })),
  {
    name: 'a second head in the body',
    lies: true,
    wire: wire => ({ ...wire, body: Buffer.concat([wire.head, wire.body]) }),
  },
  encoded('gzip', 'gzip', body => gzipSync(body, { level: 1 })),
  encoded('gzip that is none', 'gzip', body => body),
  encoded('gzip cut short', 'gzip', body => gzipSync(body, { level: 1 }).subarray(0, -9)),
  encoded('a gzip bomb', 'gzip', () => bomb),
  encoded('gzip twice, stated once', 'gzip', body => gzipSync(gzipSync(body, { level: 1 }))),
  encoded('an unknown encoding', 'odd', body => body),
  encoded('identity', 'identity', body => body),
  ...types.map(
    (type): Kind => ({
      name: `Content-Type: ${type}`,
      change: answer => withHeader(withoutHeader(answer, 'content-type'), 'Content-Type', type),
    }),
  ),
  { name: 'no Content-Type', change: answer => withoutHeader(answer, 'content-type') },
  ...validators,
]
