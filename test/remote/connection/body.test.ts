// Wholeness: a body is right and whole, or reading it fails; it is received as fast as it is read, and never stands still.
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { type Body, byteOffset } from '../../../src/remote/remote.js'
import { failsAs } from '../fails.js'
import { ask, rawService, whole } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const
const all = { start: byteOffset(0) }
const cut = (head: string, body: string) => (socket: Socket) => {
  socket.write(`${head}\r\n\r\n${body}`)
  setTimeout(() => socket.end(), 20)
}

async function textOf(body: Body): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body.bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

t.test('a body without length and without chunks proves nothing and says so', async t => {
  const service = await rawService(t, () => cut('HTTP/1.0 200 OK\r\nContent-Type: application/json', '12'))
  const body = await service.asked.content(get, all, ask())
  t.equal(body.ends, 'unproven')
  t.equal(body.length, undefined)
  t.equal(await textOf(body), '12')
  t.equal(await service.asked.text(get, ask()), '12', 'a bare number is asked for twice')
  t.equal(service.heard.length, 3)
})

t.test('a number that comes differently the second time is no answer', async t => {
  const service = await rawService(t, (_, number) => cut('HTTP/1.0 200 OK', number === 0 ? '4' : '42'))
  await failsAs(t, 'broken', service.asked.text(get, ask()))
})

t.test('READ-4 a compressed answer is refused, whatever it is', async t => {
  const packed = gzipSync('"HF energy"')
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`
  const service = await rawService(t, ({ method }) =>
    method === 'HEAD' ? head : Buffer.concat([Buffer.from(head), packed]),
  )
  await failsAs(t, 'broken', service.asked.text(get, ask()))
  t.equal(await service.asked.head({ method: 'HEAD', path: '/x' }, ask()), undefined)
  await failsAs(t, 'broken', service.asked.content(get, all, ask()))
})

t.test('READ-4 a transfer that is packed is refused, never delivered', async t => {
  const packed = gzipSync('the file')
  const service = await rawService(t, ({ path }) => socket => {
    const coding = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
    const head = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n`
    const chunk = Buffer.concat([Buffer.from(`${packed.length.toString(16)}\r\n`), packed])
    socket.write(Buffer.concat([Buffer.from(head), chunk, Buffer.from('\r\n0\r\n\r\n')]))
  })
  for (const coding of ['gzip, chunked', 'deflate,chunked', 'x-gzip , chunked', 'gzip', 'br, chunked']) {
    const path = `/${encodeURIComponent(coding)}`
    const read = async () => textOf(await service.asked.content({ method: 'GET', path }, all, ask(2000)))
    await failsAs(t, 'broken', read())
  }
})

t.test('a body may come bit by bit, for longer than the deadline', async t => {
  const reply = () => (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n')
    for (let at = 1; at <= 6; at++) setTimeout(() => socket.write('x'), at * 150)
  }
  // Each piece is paused, and asked to go on before the next one has come.
  const { asked } = await rawService(t, reply, { bwlimit: 1_000_000 })
  t.equal(await textOf(await asked.content(get, all, ask(500))), 'xxxxxx')
})

t.test('a part is taken only if it is the asked one', async t => {
  const ranges: Record<string, string> = {
    right: 'bytes 4-9/10',
    early: 'bytes 0-5/10',
    inner: 'bytes 4-9/20',
    wordy: 'lines 4-9/10',
  }
  const service = await rawService(t, ({ path, head }) => {
    const range = ranges[path.split('/').at(-1) ?? '']
    if (range === undefined || !/range: bytes=4-/i.test(head)) return whole('0123456789')
    return `HTTP/1.1 206 Partial\r\nContent-Range: ${range}\r\nContent-Length: 6\r\n\r\n456789`
  })
  const part = (name: string) =>
    service.asked.content({ method: 'GET', path: `/${name}` }, { start: byteOffset(4) }, ask())
  const right = await part('right')
  t.same([right.start, right.length, await textOf(right)], [4, 10, '456789'])
  const all = await part('ignored')
  t.same([all.start, all.length, await textOf(all)], [0, 10, '0123456789'])
  for (const name of ['early', 'inner', 'wordy']) await failsAs(t, 'broken', part(name))
})

t.test('a part with an end is taken up to it, or to the end of the content', async t => {
  const parts: Record<string, [string, string]> = {
    right: ['bytes 4-6/10', '456'],
    longer: ['bytes 4-9/10', '456789'],
    shorter: ['bytes 4-5/10', '45'],
    claims: ['bytes 4-6/10', '45678'],
  }
  const service = await rawService(t, ({ path, head }) => {
    const [range, bytes] = parts[path.split('/').at(-1) ?? ''] ?? ['', '']
    if (range === '' || !/range: bytes=4-6$/im.test(head)) return whole('0123456789')
    return `HTTP/1.1 206 Partial\r\nContent-Range: ${range}\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes}`
  })
  const part = (name: string, from = 4) =>
    service.asked.content(
      { method: 'GET', path: `/${name}` },
      { start: byteOffset(from), end: byteOffset(7) },
      ask(),
    )
  const right = await part('right')
  t.same([right.start, right.end, right.length, await textOf(right)], [4, 7, 10, '456'])
  const longer = await part('longer')
  t.same([longer.start, longer.end, await textOf(longer)], [4, undefined, '456789'], 'its end is ignored')
  const ignored = await part('ignored', 0)
  t.same([ignored.start, ignored.end, await textOf(ignored)], [0, undefined, '0123456789'])
  for (const name of ['shorter', 'claims']) await failsAs(t, 'broken', part(name))
})

t.test('the first byte tells the size where HEAD does not, and whether it was refused', async t => {
  const part = 'HTTP/1.1 206 Partial\r\nContent-Length: 1\r\nContent-Range: bytes'
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const told: readonly (readonly [string, boolean, number | undefined, boolean])[] = [
    [`${part} 0-0/77\r\n\r\nx`, true, 77, false],
    ['HTTP/1.1 416 No\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\n\r\n', true, 0, false],
    ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc', false, 3, true],
    [`${chunked}3\r\nabc\r\n0\r\n\r\n`, false, undefined, true],
    [`${chunked}0\r\n\r\n`, false, undefined, false],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', false, 0, false],
    ['HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n', true, undefined, false],
    [`${part} 0-0/*\r\n\r\nx`, true, undefined, true],
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nabc', false, undefined, false],
    ['HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc', false, undefined, false],
  ]
  const service = await rawService(t, ({ path }) => told[Number(path.split('/').at(-1))]?.[0] ?? '')
  for (const [at, [head, honoured, size, refused]] of told.entries())
    t.same(
      await service.asked.firstByte({ method: 'GET', path: `/${at}` }, ask()),
      { honoured, size, refused },
      head,
    )
})
