// What a change rests on is looked at again where the change has waited: for a free connection, or for one that is slow to be made.
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import t from 'tap'
import { openHttp } from '../../../src/remote/http/http.js'
import { instant, type RequestContext } from '../../../src/remote/remote.js'
import { ask, rawService, whole } from '../raw.js'
import { certificate, key } from '../self-signed.js'

const put = { method: 'PUT', path: '/thing', body: '{}' } as const
const get = { method: 'GET', path: '/thing' } as const

/** As one that has just looked at the thing. */
const having = (again: (context: RequestContext) => Promise<void>): RequestContext => ({
  ...ask(),
  look: { at: instant(Date.now()), again },
})

t.test('a change that finds a connection at once is not looked at again', { timeout: 20_000 }, async t => {
  const service = await rawService(t, () => whole('{}'))
  await service.asked.text(
    put,
    having(async () => {
      t.fail('it is looked at again')
    }),
  )
  t.same(
    service.heard.map(({ method }) => method),
    ['PUT'],
  )
})

t.test(
  'STALE-2 a change whose connection is slow to be made is looked at first',
  { timeout: 20_000 },
  async t => {
    const heard: string[] = []
    const secure = createSecureServer({ key, cert: certificate }, (request, response) => {
      if (request.url?.endsWith('/thing')) heard.push(request.method ?? '')
      response.end('{}')
    })
    const port = await listening(secure)
    const slow = createServer(socket => {
      socket.on('error', () => {})
      setTimeout(() => {
        const further = connect(port, '127.0.0.1')
        further.on('error', () => socket.destroy())
        socket.pipe(further).pipe(socket)
      }, 1300)
    })
    const base = new URL(`https://127.0.0.1:${await listening(slow)}/create/rest`)
    const asked = openHttp({ base, connections: 4, authority: certificate })
    t.teardown(async () => {
      await asked.client.close()
      secure.closeAllConnections()
      for (const server of [slow, secure]) server.close()
    })
    await asked.text(
      put,
      having(async context => {
        await asked.text(get, context)
      }),
    )
    t.same(heard, ['GET', 'PUT'])
  },
)

async function listening(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
