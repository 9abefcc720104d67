// Odd headers: lengths that contradict each other, encodings, transfer codings, and heads that are no heads.
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { type Answer, chunked, type Wire, withHeader, withoutHeader } from './answer.js'
import { framed, headed, type Kind, line } from './kind.js'

/** 67 MB of zeros. */
const bomb = gzipSync(Buffer.alloc(64 << 20))

const text = (bytes: string | Buffer): string => bytes.toString('latin1')

/** Lengths that are none, or contradict the body. */
const lengths: Readonly<Record<string, (length: number) => readonly string[]>> = {
  'two lengths that agree': n => [`Content-Length: ${n}`, `Content-Length: ${n}`],
  'two lengths that differ': n => [`Content-Length: ${n}`, `Content-Length: ${n - 5}`],
  'two lengths, the shorter first': n => [`Content-Length: ${n - 5}`, `Content-Length: ${n}`],
  'a list of lengths': n => [`Content-Length: ${n}, ${n}`],
  'a list of two lengths': n => [`Content-Length: ${n}, ${n - 5}`],
  'a negative length': () => ['Content-Length: -1'],
  'a length with a plus': n => [`Content-Length: +${n}`],
  'a length in hex': n => [`Content-Length: 0x${n.toString(16)}`],
  'a length with a fraction': n => [`Content-Length: ${n}.0`],
  'a length with an exponent': () => ['Content-Length: 3e3'],
  'a length beyond 2^53': () => ['Content-Length: 9007199254740993'],
  'a length beyond 2^64': () => ['Content-Length: 99999999999999999999999'],
  'an empty length': () => ['Content-Length:'],
  'a length in words': () => ['Content-Length: many'],
  'a length with leading zeros': n => [`Content-Length: 000${n}`],
  'a length between blanks': n => [`Content-Length:   ${n}   `],
  'a length with a NUL': n => [`Content-Length: ${n}\0`],
  'a length in quotes': n => [`Content-Length: "${n}"`],
  'a length in other digits': () => ['Content-Length: ٣٠٠٠'],
  'a folded length': n => [`Content-Length:\r\n ${n}`],
  'a length and chunks': n => [`Content-Length: ${n}`, 'Transfer-Encoding: chunked'],
  'chunks and a length, unchunked': n => ['Transfer-Encoding: chunked', `Content-Length: ${n}`],
  'an unknown transfer coding': n => [`Content-Length: ${n}`, 'Transfer-Encoding: odd'],
  'identity as transfer coding': n => [`Content-Length: ${n}`, 'Transfer-Encoding: identity'],
  'a misspelt transfer coding': n => [`Content-Length: ${n}`, 'Transfer-Encoding: xchunked'],
  'a blank before the colon': n => [`Content-Length : ${n}`],
}

/** Chunked as well, where the headers say so in one of these ways. */
const chunkings: Readonly<Record<string, readonly string[]>> = {
  'chunked twice in the header': ['Transfer-Encoding: chunked, chunked'],
  'chunked in two headers': ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
  'CHUNKED in capitals': ['Transfer-Encoding: CHUNKED'],
  'chunked, identity': ['Transfer-Encoding: chunked, identity'],
  'gzip, chunked without gzip': ['Transfer-Encoding: gzip, chunked'],
  'chunked with a parameter': ['Transfer-Encoding: chunked;q=1'],
  'a tab before chunked': ['Transfer-Encoding:\tchunked'],
}

const shapes: Readonly<Record<string, (wire: Wire) => Wire>> = {
  'bare line feeds': wire => headed(wire, lines => lines, '\n'),
  'bare carriage returns': wire => headed(wire, lines => lines, '\r'),
  'a header without a colon': wire => line('Odd').wire(wire),
  'a header without a name': wire => line(': odd').wire(wire),
  'a name with blanks': wire => line('Odd Name: odd').wire(wire),
  'a name with a NUL': wire => line('Od\0d: odd').wire(wire),
  'a value with a NUL': wire => line('Odd: o\0d').wire(wire),
  'a value with a bare CR': wire => line('Odd: o\rContent-Length: 3').wire(wire),
  'a folded header': wire => line('Odd: one\r\n two').wire(wire),
  'a folded first header': wire => headed(wire, ([status = '', ...rest]) => [status, ' folded: x', ...rest]),
  'a header of 64 kB': wire => line(`Odd: ${'o'.repeat(65_536)}`).wire(wire),
  'a header of 2 MB': wire => line(`Odd: ${'o'.repeat(2 << 20)}`).wire(wire),
  '10,000 headers': wire =>
    line(Array.from({ length: 10_000 }, (_, at) => `X-${at}: ${at}`).join('\r\n')).wire(wire),
  'a header in UTF-8': wire => line(`Odd: ${text(Buffer.from('Ω 日本'))}`).wire(wire),
  '__proto__ as a header': wire => line('__proto__: polluted\r\nconstructor: odd').wire(wire),
  cookies: wire =>
    line(`Set-Cookie: a=${'b'.repeat(4000)}; Path=/\r\nSet-Cookie: c=d; Domain=evil.example`).wire(wire),
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

const types = [
  'text/html',
  'text/html; charset=utf-16',
  'application/xhtml+xml',
  'application/json; charset=utf-16le',
  'application/json; charset=iso-8859-1',
  'application/json; charset=odd',
  'multipart/byteranges; boundary=x',
  'text/plain',
  'application/octet-stream',
  'odd',
  '',
]

const validators: readonly Kind[] = [
  {
    name: 'another ETag each time',
    change: (answer, { pick }) => withHeader(answer, 'ETag', `"${pick.word(8, 8)}"`),
  },
  { name: 'a weak ETag', change: answer => withHeader(answer, 'ETag', 'W/"x"') },
  { name: 'an ETag that is none', change: answer => withHeader(answer, 'ETag', 'x"y') },
  {
    name: 'Last-Modified now',
    change: answer => withHeader(answer, 'Last-Modified', new Date().toUTCString()),
  },
  { name: 'Last-Modified that is none', change: answer => withHeader(answer, 'Last-Modified', 'yesterday') },
  { name: 'Vary: *', change: answer => withHeader(answer, 'Vary', '*') },
  {
    name: 'a Content-Range on everything',
    change: answer => withHeader(answer, 'Content-Range', 'bytes 0-1/2'),
  },
  {
    name: 'a Content-Range that is none',
    change: answer => withHeader(withoutHeader(answer, 'content-range'), 'Content-Range', 'odd'),
  },
  {
    name: 'a Content-Range without a total',
    change: answer => ({
      ...answer,
      headers: answer.headers.map(
        ([name, value]) => [name, name === 'Content-Range' ? value.replace(/\/\d+/, '/*') : value] as const,
      ),
    }),
  },
  {
    name: 'a Content-Range of another part',
    change: answer => ({
      ...answer,
      headers: answer.headers.map(
        ([name, value]) =>
          [
            name,
            name === 'Content-Range'
              ? value.replace(/(\d+)-(\d+)/, (_, a, b) => `${Number(a) + 7}-${Number(b) + 7}`)
              : value,
          ] as const,
      ),
    }),
  },
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
  ...Object.entries(chunkings).map(
    ([name, headers]): Kind => ({
      name,
      wire: (wire, { asked }, answer) => ({
        ...framed(...headers).wire(wire),
        body: asked.method === 'HEAD' ? wire.body : chunked(answer.body),
      }),
    }),
  ),
  {
    name: 'gzip, chunked as transfer coding',
    wire: (wire, { asked }, answer) => ({
      ...framed('Transfer-Encoding: gzip, chunked').wire(wire),
      body: asked.method === 'HEAD' ? wire.body : chunked(gzipSync(answer.body, { level: 1 })),
    }),
  },
  ...Object.entries(shapes).map(([name, wire]): Kind => ({ name, wire })),
  {
    name: 'a second head in the body',
    lies: true,
    wire: wire => ({ ...wire, body: Buffer.concat([wire.head, wire.body]) }),
  },
  encoded('gzip', 'gzip', body => gzipSync(body, { level: 1 })),
  encoded('x-gzip', 'x-gzip', body => gzipSync(body, { level: 1 })),
  encoded('deflate', 'deflate', body => deflateSync(body, { level: 1 })),
  encoded('raw deflate', 'deflate', body => deflateRawSync(body, { level: 1 })),
  encoded('brotli', 'br', body =>
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } }),
  ),
  encoded('gzip that is none', 'gzip', body => body),
  encoded('gzip cut short', 'gzip', body => gzipSync(body, { level: 1 }).subarray(0, -9)),
  encoded('gzip with junk behind', 'gzip', body =>
    Buffer.concat([gzipSync(body, { level: 1 }), Buffer.from('junk')]),
  ),
  encoded('gzip in two members', 'gzip', body =>
    Buffer.concat([gzipSync(body.subarray(0, 500)), gzipSync(body.subarray(500), { level: 1 })]),
  ),
  encoded('gzip with a wrong checksum', 'gzip', body => {
    const packed = gzipSync(body, { level: 1 })
    packed.writeUInt32LE(7, packed.length - 8)
    return packed
  }),
  encoded('a gzip bomb', 'gzip', () => bomb),
  encoded('gzip twice, stated once', 'gzip', body => gzipSync(gzipSync(body, { level: 1 }))),
  encoded('gzip, gzip', 'gzip, gzip', body => gzipSync(gzipSync(body, { level: 1 }))),
  encoded('an unknown encoding', 'odd', body => body),
  encoded('zstd that is none', 'zstd', body => body),
  encoded('identity', 'identity', body => body),
  encoded('an empty encoding', '', body => body),
  ...types.map(
    (type): Kind => ({
      name: `Content-Type: ${type}`,
      change: answer => withHeader(withoutHeader(answer, 'content-type'), 'Content-Type', type),
    }),
  ),
  { name: 'no Content-Type', change: answer => withoutHeader(answer, 'content-type') },
  ...validators,
]
