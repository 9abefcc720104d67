// The proxy of the environment, and the message where it is none.
import t from 'tap'
import { openHttp } from '../../../src/remote/http/http.js'
import { failsAs } from '../fails.js'
import { ask, rawService } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const

t.test('the proxy of the environment is asked, but never for this machine', { timeout: 10_000 }, async t => {
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
