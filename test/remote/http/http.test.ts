// What an answer means: what is asked again, what is never sent on, how long it may take and be; and the proxy on the way.
import t from 'tap'
import { openHttp } from '../../../src/remote/http/http.js'
import { byteOffset } from '../../../src/remote/remote.js'
import { Wire } from '../../../src/remote/wire/wire.js'
import { failsAs } from '../fails.js'
import { ask, rawService, whole } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const
const all = { start: byteOffset(0) }
const maxAnswer = 16 << 20

t.test('a write that was answered badly has an unknown outcome, one that was refused does not', async t => {
  const service = await rawService(t, ({ path }) => {
    if (path.endsWith('html')) return whole('<html></html>')
    if (path.endsWith('gateway')) return 'HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n'
    if (path.endsWith('silent')) return () => {}
    return 'HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n'
  })
  const put = (path: string, within?: number) =>
    service.asked.text({ method: 'PUT', path, body: '{}' }, ask(within))
  for (const path of ['/html', '/gateway']) await failsAs(t, 'outcome-unknown', put(path))
  await failsAs(t, 'outcome-unknown', put('/silent', 1_000))
  await failsAs(t, 'invalid', put('/refused'))
  const read = service.asked.text({ method: 'GET', path: '/gateway' }, ask())
  t.match(await failsAs(t, 'timeout', read), { message: /answered 504 / })
})

t.test('READ-10 a reset ends no body whose length nothing tells', async t => {
  const service = await rawService(t, () => socket => {
    socket.write('HTTP/1.0 200 OK\r\n\r\n[1]', () => setTimeout(() => socket.resetAndDestroy(), 50))
  })
  await failsAs(t, 'unreachable', service.asked.text(get, ask()))
})

t.test('no redirect is followed, and the token goes to no other place', async t => {
  const thief = await rawService(t, () => whole('[]'))
  const service = await rawService(t, ({ path }) => {
    const to = path.endsWith('/away') ? `${thief.url}/x?secret=1` : '/create/rest/there'
    return path.endsWith('/there')
      ? whole('[7]')
      : `HTTP/1.1 302 Go\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`
  })
  const request = (path: string) => ({ method: 'GET', path, authorization: 'Bearer abc' }) as const
  await failsAs(t, 'broken', service.asked.text(request('/near'), ask()))
  const failure = await failsAs(t, 'broken', service.asked.text(request('/away'), ask()))
  t.notMatch(failure.message, /secret/)
  await failsAs(t, 'broken', service.asked.content(request('/near'), all, ask()))
  await failsAs(t, 'broken', service.asked.text({ ...request('/near'), method: 'POST' }, ask()))
  t.equal(thief.heard.length, 0)
  t.notOk(service.heard.some(({ path }) => path.endsWith('/there')))
})

t.test('the proxy of the environment is asked, but never for this machine', async t => {
  const proxy = await rawService(t, () => 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
  const before = process.env['HTTPS_PROXY']
  process.env['HTTPS_PROXY'] = new URL(proxy.url).origin
  t.teardown(() => {
    if (before === undefined) delete process.env['HTTPS_PROXY']
    else process.env['HTTPS_PROXY'] = before
  })
  const outside = openHttp({ base: new URL('https://service.invalid/create/rest'), connections: 2 })
  const here = await rawService(t, () => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]')
  t.teardown(() => outside.client.close())
  await failsAs(t, 'unreachable', outside.text(get, ask()))
  t.match(proxy.heard[0], { method: 'CONNECT', path: 'service.invalid:443' })
  const asked = proxy.heard.length
  t.equal(await here.asked.text(get, ask()), '[]')
  t.equal(proxy.heard.length, asked)
  process.env['HTTPS_PROXY'] = 'not an address'
  t.throws(() => openHttp({ base: new URL('https://service.invalid/'), connections: 2 }), {
    message: /HTTPS_PROXY/,
  })
})

t.test('MEM-1 an answer that is too long, or too much once it is understood, is refused', async t => {
  const long = `{"s":"${'x'.repeat(maxAnswer)}"}`
  const answers = {
    'with its length': whole(long),
    'in chunks': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
    'of many short values': whole(`[${'1,'.repeat(maxAnswer / 4)}1]`),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const service = await rawService(t, () => answer)
    const failure = await failsAs(t, 'broken', service.asked.text(get, ask(120_000)))
    t.match(failure.message, /a record over 16 MiB or a list over 64 MiB|16777216 bytes allowed here/, name)
  }
  const most = `"${'x'.repeat(maxAnswer - 2)}"`
  const service = await rawService(t, () => whole(most))
  t.equal((await service.asked.text(get, ask(120_000))).length, maxAnswer)
})

t.test('MEM-1 a record that is many times as long in print is refused', async t => {
  const nested = (depth: number, items: number): string =>
    `{"id":7,"deep":${'['.repeat(depth)}${'1,'.repeat(items)}1${']'.repeat(depth)}}`
  const read = async (text: string) => {
    const service = await rawService(t, () => whole(text))
    return service.asked.jsonText(get, ask(120_000))
  }
  t.equal((await read(nested(2, 800_000))).length, nested(2, 800_000).length)
  const failure = await failsAs(t, 'broken', read(nested(190, 800_000)))
  t.match(failure.message, /more memory than calcfs allows/)
})

t.test('MEM-1 a list of more children than may be held is refused, however short they are', async t => {
  const listOf = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => `{"id":${at + 1},"name":"c${at}"}`).join(',')}]`
  const speech = new Wire({}, () => {})
  const read = async (count: number) => {
    const service = await rawService(t, () => whole(listOf(count)))
    return service.asked.readInto(get, () => speech.children('calculation'), ask(120_000))
  }
  t.equal((await read(240_000)).end().length, 240_000)
  const failure = await failsAs(t, 'broken', read(480_000))
  t.match(failure.message, /more memory than calcfs allows/)
})
