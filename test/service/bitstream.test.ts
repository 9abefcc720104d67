// Promises of the content's way out: ranges, conditions, codings and lengths.
import t, { type Test } from 'tap'
import type { Shortcomings } from '../../src/service/store/options.js'
import { type Client, openServiceTestbed } from './client.js'

t.setTimeout(240_000)
const digits = '0123456789'

interface Content {
  readonly get: (headers?: Record<string, string>) => ReturnType<Client>
  readonly head: (headers?: Record<string, string>) => ReturnType<Client>
}

async function content(
  t: Test,
  shortcomings: Partial<Shortcomings> = {},
  bytes: string | Buffer = digits,
): Promise<Content> {
  const { anna, service } = await openServiceTestbed(t, { shortcomings })
  const project = service.seed.addProject({ name: 'p', owner: 'anna' })
  const id = service.seed.addCalculation({ name: 'c', project, files: { 'a.out': bytes } })
  const path = `/calculation/files/bitstream?id=${id}&fileId=a.out`
  return {
    get: (headers = {}) => anna('GET', path, { headers }),
    head: (headers = {}) => anna('HEAD', path, { headers }),
  }
}

t.test('the bytes go out as they are, with their length and a tag', async t => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  const { get } = await content(t, {}, every)
  const answer = await get()
  t.equal(answer.status, 200)
  t.ok(answer.bytes.equals(every))
  t.match(answer.headers, {
    'content-length': '256',
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    etag: /^"[0-9a-f]{64}"$/,
    'content-disposition': /filename="a\.out"/,
  })
  t.notOk('content-encoding' in answer.headers)
})

t.test('HEAD says what GET would, without the bytes', async t => {
  const { get, head } = await content(t)
  const [whole, nothing] = [await get(), await head({ range: 'bytes=0-1' })]
  t.equal(nothing.status, 200)
  t.equal(nothing.bytes.length, 0)
  for (const name of ['content-length', 'etag', 'content-type', 'accept-ranges']) {
    t.equal(nothing.headers[name], whole.headers[name], name)
  }
})

t.test('a range is honoured, cut at the end of the file', async t => {
  const { get } = await content(t)
  const ranges: [string, string, string][] = [
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=8-99999999999999999999', '89', 'bytes 8-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-30', digits, 'bytes 0-9/10'],
  ]
  for (const [range, text, place] of ranges) {
    const answer = await get({ range })
    t.same([answer.status, answer.text, answer.headers['content-range']], [206, text, place], range)
    t.equal(answer.headers['content-length'], String(text.length))
  }
})

t.test('a range beyond the end is 416 and names the size', async t => {
  const { get } = await content(t)
  for (const range of ['bytes=10-', 'bytes=10-11', 'bytes=99-', 'bytes=-0']) {
    const answer = await get({ range })
    t.same([answer.status, answer.headers['content-range']], [416, 'bytes */10'], range)
  }
})

t.test('a range that makes no sense, or several at once, get everything', async t => {
  const { get } = await content(t)
  for (const range of ['bytes=4-2', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4', 'bytes']) {
    const answer = await get({ range })
    t.same([answer.status, answer.text], [200, digits], range)
  }
})

t.test('a range is taken from the same content only, where the client says which', async t => {
  const { get } = await content(t)
  const tag = String((await get()).headers['etag'])
  t.equal((await get({ range: 'bytes=1-2', 'if-range': tag })).text, '12')
  t.equal((await get({ range: 'bytes=1-2', 'if-range': '"old"' })).text, digits)
})
