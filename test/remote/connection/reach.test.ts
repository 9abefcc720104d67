// Connections to the service: trusted certificates, the use of a proxy, and the message when either fails.
import { createServer } from 'node:https'
import t from 'tap'
import { openHttp } from '../../../src/remote/http/http.js'
import { failsAs } from '../fails.js'
import { ask, rawService } from '../raw.js'
import { certificate, key } from '../self-signed.js'

const get = { method: 'GET', path: '/x' } as const

t.test('a private authority is trusted only where it is given', { timeout: 10_000 }, async t => {
  const server = createServer({ key, cert: certificate }, (_, response) => response.end('[]'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const base = new URL(`https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/create/rest`)
  const stranger = openHttp({ base, connections: 2 })
  const friend = openHttp({ base, connections: 2, authority: certificate })
  t.teardown(async () => {
    await Promise.all([stranger.client.close(), friend.client.close()])
    await new Promise(resolve => server.close(resolve))
  })
  for (let count = 0; count < 4; count++) {
    const failure = await failsAs(t, 'untrusted', stranger.text(get, ask()))
    t.match(failure.message, /--ca-file/)
  }
  t.equal(await friend.text(get, ask()), '[]')
})

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
