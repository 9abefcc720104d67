// What an answer means: what is asked again, what is never sent on, and how long it may take.
import t from 'tap'
import { byteOffset } from '../../../src/remote/remote.js'
import { stopwatch } from '../../testbed/machine/stopwatch.js'
import { failsAs } from '../fails.js'
import { ask, rawService, whole } from '../raw.js'

const get = { method: 'GET', path: '/x' } as const
const all = { start: byteOffset(0) }

t.test('questions are asked again, writes never', { timeout: 20_000 }, async t => {
  const service = await rawService(t, ({ path }, number) => {
    if (path.endsWith('lost')) return socket => socket.destroy()
    return number === 0 ? 'HTTP/1.1 503 Wait\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n' : whole('[1]')
  })
  const began = Date.now()
  t.equal(await service.asked.text(get, ask()), '[1]')
  t.ok(Date.now() - began >= 1000, 'Retry-After is obeyed')
  const before = service.heard.length
  const failure = await failsAs(
    t,
    'outcome-unknown',
    service.asked.text({ method: 'PUT', path: '/lost', body: '{}' }, ask()),
  )
  t.match(failure.cause, { kind: 'unreachable' })
  t.equal(service.heard.length, before + 1, 'a lost answer to a PUT sends nothing again')
})

t.test('a Retry-After beyond the deadline is not waited for', { timeout: 10_000 }, async t => {
  const service = await rawService(
    t,
    () => 'HTTP/1.1 429 Slow\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n',
  )
  const elapsed = stopwatch()
  await failsAs(t, 'busy', service.asked.text(get, ask(2000)))
  t.ok(elapsed() < 1900)
  t.equal(service.heard.length, 1)
  await failsAs(t, 'busy', service.asked.text({ method: 'POST', path: '/x', body: '{}' }, ask(2000)))
  t.equal(service.heard.length, 2)
})

t.test(
  'a write that was answered badly has an unknown outcome, one that was refused does not',
  { timeout: 20_000 },
  async t => {
    const service = await rawService(t, ({ path }) => {
      if (path.endsWith('html')) return whole('<html></html>')
      if (path.endsWith('gateway')) return 'HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n'
      if (path.endsWith('silent')) return () => {}
      return 'HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n'
    })
    const put = (path: string) => service.asked.text({ method: 'PUT', path, body: '{}' }, ask(500))
    for (const path of ['/html', '/gateway', '/silent']) await failsAs(t, 'outcome-unknown', put(path))
    await failsAs(t, 'invalid', put('/refused'))
    const read = service.asked.text({ method: 'GET', path: '/gateway' }, ask(500))
    t.match(await failsAs(t, 'timeout', read), { message: /answered 504 / })
  },
)

t.test('no redirect is followed, and the token goes to no other place', { timeout: 10_000 }, async t => {
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

t.test('what the service echoes of a secret is blotted out', { timeout: 10_000 }, async t => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'
  const service = await rawService(t, ({ head }) => {
    const echo = `you sent ${/authorization: (.*)/i.exec(head)?.[1]} and hunter2, ${'long '.repeat(200)}`
    return `HTTP/1.1 403 No\r\nContent-Length: ${echo.length}\r\n\r\n${echo}`
  })
  const basic = `Basic ${Buffer.from('anna:hunter2').toString('base64')}`
  for (const authorization of [`Bearer ${token}`, basic]) {
    const { said = '' } = await failsAs(t, 'forbidden', service.asked.text({ ...get, authorization }, ask()))
    t.notMatch(said, authorization.split(' ')[1] ?? '')
    if (authorization === basic) t.notMatch(said, /hunter2/)
    t.ok(said.length <= 300)
  }
})
