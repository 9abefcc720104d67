// Signing in: one log-in however many wait, renewed in time and once on a refusal, never hammered, never shown.
import { inspect } from 'node:util'
import { UnsecuredJWT } from 'jose'
import t, { type Test } from 'tap'
import type { Clock } from '../../../src/remote/clock.js'
import { systemClock } from '../../../src/remote/clock.js'
import { instant } from '../../../src/remote/remote.js'
import { type Credentials, Session, type SessionOptions } from '../../../src/remote/session/session.js'
import { stopwatch } from '../../testbed/machine/stopwatch.js'
import { failsAs } from '../fails.js'
import { type Heard, type Reply, rawService, whole } from '../raw.js'

const refusal = 'HTTP/1.1 401 No\r\nContent-Length: 3\r\n\r\nno!'
const anna: Credentials = { with: 'password', user: 'anna@example.org', password: 'sesame' }
const get = { method: 'GET', path: '/user/info' } as const
const hour = 3_600_000

/** A token of 24 hours as a service with a wrong clock would issue it. */
const jwt = (name: string, issued = 1_000_000_000): string =>
  new UnsecuredJWT({ name })
    .setIssuedAt(issued)
    .setExpirationTime(issued + 24 * 3600)
    .encode()

/** Real timers, but a day can be made to pass. */
function movable(): Clock & { pass(milliseconds: number): void } {
  let moved = 0
  return {
    now: () => instant(Date.now() + moved),
    after: systemClock.after,
    pass: milliseconds => {
      moved += milliseconds
    },
  }
}

async function openTestbed(
  t: Test,
  reply: (request: Heard, number: number) => Reply,
  given: Partial<SessionOptions> = {},
) {
  const clock = movable()
  const service = await rawService(t, reply, { clock })
  const options = {
    credentials: async () => anna,
    clock,
    address: 'https://chem.example/create/rest',
    note: (failure: unknown) => t.fail(String(failure)),
    ...given,
  }
  const { signed } = new Session(service.asked, options)
  const later = () => ({ deadline: instant(clock.now() + 3000), priority: 'user' as const })
  const logins = () => service.heard.filter(({ path }) => path.endsWith('/login')).length
  return { clock, service, logins, signed, later, user: () => signed.text(get, later()) }
}

const bearer = ({ head }: Heard): string => /authorization: Bearer (\S+)/i.exec(head)?.[1] ?? ''
const isLogin = ({ path }: Heard): boolean => path.endsWith('/login')

t.test('SIGN-2 a question that is refused with every token stops no other log-in', async t => {
  let valid = 'first'
  let issued = 0
  const { service, logins, user, signed, later } = await openTestbed(t, request => {
    if (isLogin(request)) {
      issued += 1
      valid = `t${issued}`
      return whole(valid)
    }
    return bearer(request) === valid && !request.path.endsWith('/forbidden') ? whole('{}') : refusal
  })
  const forbidden = () => signed.text({ method: 'GET', path: '/forbidden' }, later())
  t.equal(await user(), '{}')
  for (let count = 0; count < 10; count += 1) await failsAs(t, 'forbidden', forbidden())
  t.equal(logins(), 2, 'one new log-in for it, and no more')
  t.equal(await user(), '{}')
  for (let count = 0; count < 3; count += 1) {
    valid = 'another process has ended this session'
    t.equal(await user(), '{}', 'a token that ends meanwhile is renewed')
    await failsAs(t, 'forbidden', forbidden())
  }
  t.equal(logins(), 5)
  t.ok(service.heard.length < 60)
})

t.test('SIGN-2 credentials that were good are tried again a second after a refusal', async t => {
  let away = false
  const { user, logins, clock } = await openTestbed(t, request =>
    away || (!isLogin(request) && bearer(request) === 'old')
      ? refusal
      : whole(isLogin(request) ? 'new' : '{}'),
  )
  t.equal(await user(), '{}')
  away = true
  await failsAs(t, 'unauthenticated', user())
  t.equal(logins(), 2)
  away = false
  await failsAs(t, 'unauthenticated', user())
  t.equal(logins(), 2, 'not at once')
  clock.pass(1_000)
  t.equal(await user(), '{}')
})

t.test('a token is renewed before its end, whatever the clocks say', async t => {
  const { user, logins, clock } = await openTestbed(t, (request, number) =>
    whole(isLogin(request) ? jwt(`${number}`) : '{}'),
  )
  await user()
  clock.pass(23 * hour)
  await user()
  t.equal(logins(), 1)
  clock.pass(hour - 60_000)
  await user()
  t.equal(logins(), 2, 'a minute before the end')
})

const keptToken = { text: 'ready', received: undefined }
const tokens: Readonly<Record<string, Partial<SessionOptions>>> = {
  kept: { credentials: async () => undefined, store: { load: async () => keptToken, save: async () => {} } },
  given: { credentials: async () => ({ with: 'token', token: 'ready' }) },
}
for (const [kind, given] of Object.entries(tokens))
  t.test(
    `SIGN-1 a ${kind} token that was refused for a while is used again, and is not tried on and on`,
    async t => {
      let isRefused = false
      const { user, service, clock } = await openTestbed(t, () => (isRefused ? refusal : whole('{}')), given)
      t.equal(await user(), '{}')
      isRefused = true
      await failsAs(t, 'unauthenticated', user())
      const before = service.heard.length
      for (let count = 0; count < 20; count += 1) await failsAs(t, 'unauthenticated', user())
      t.ok(service.heard.length <= before + 1, `${service.heard.length - before} questions`)
      clock.pass(2_000)
      await failsAs(t, 'unauthenticated', user())
      isRefused = false
      clock.pass(2_000)
      t.equal(await user(), '{}')
    },
  )

t.test('no failure holds a password or token, whatever the service echoes', async t => {
  let token = ''
  const { user, signed, later, clock } = await openTestbed(t, request => {
    if (isLogin(request) && token !== '') return whole(token)
    if (request.path.endsWith(get.path)) return whole('{}')
    const [, sent = ''] = /authorization: \w+ (.*)/i.exec(request.head) ?? []
    const echo = `you sent ${sent}, which is ${Buffer.from(sent, 'base64')}; ${'long '.repeat(200)}`
    return `HTTP/1.1 401 No\r\nContent-Length: ${Buffer.byteLength(echo)}\r\n\r\n${echo}`
  })
  const failures = [await failsAs(t, 'unauthenticated', user())]
  for (token of [jwt('anna'), 'opaque-token']) {
    clock.pass(60_000)
    failures.push(await failsAs(t, 'forbidden', signed.text({ method: 'GET', path: '/forbidden' }, later())))
  }
  for (const failure of failures) {
    t.match(failure.said, /^you sent \[secret\].{200,287}$/s)
    // With its stack, its causes and all that they hold.
    t.notMatch(inspect(failure, { depth: null }), /sesame|c2VzYW1l|eyJ|opaque-token/)
  }
})

t.test('what is no token is not sent', async t => {
  for (const answer of ['', '[', '<html>', '{"error":"x"}', 'two words', 'a\u0000b']) {
    const { user, service } = await openTestbed(t, () => whole(answer))
    await failsAs(t, 'broken', user())
    t.ok(service.heard.every(isLogin))
  }
})

t.test('a record that alone is refused is no proof against its token', async t => {
  const refused = '/calculation?id=8'
  const { service, signed, later, user } = await openTestbed(
    t,
    request => {
      if (isLogin(request)) return whole('good')
      return request.path.endsWith(refused) ? refusal : whole('well')
    },
    { question: besides => (besides === refused ? get.path : refused) },
  )
  const record = () => signed.text({ method: 'GET', path: refused }, later()).catch(String)
  t.equal(await user(), 'well')
  for (let read = 0; read < 3; read += 1) {
    t.match(await record(), /answered 401/)
    t.equal(await user(), 'well', 'others are answered')
  }
  t.ok(service.heard.filter(isLogin).length <= 2, 'and no more log-ins than one for the refusal')
})

t.test('AVAIL-1 a lost check of the token delays no other refused question', async t => {
  let checks = 0
  const { clock, user, signed, later, logins } = await openTestbed(t, request => {
    if (isLogin(request)) return logins() === 1 ? whole('a') : refusal
    if (request.path.endsWith('/first')) return refusal
    if (request.path.endsWith('/second')) return socket => void setTimeout(() => socket.write(refusal), 200)
    checks += 1
    return checks === 2 ? () => {} : whole('{}')
  })
  await user()
  const minute = { deadline: instant(clock.now() + 60_000), priority: 'guess' } as const
  const first = failsAs(t, 'forbidden', signed.text({ method: 'GET', path: '/first' }, minute))
  const elapsed = stopwatch()
  await failsAs(t, 'forbidden', signed.text({ method: 'GET', path: '/second' }, later()))
  t.ok(elapsed() < 2_500, `after ${elapsed()} ms`)
  await first
  t.equal(checks, 3, 'it was sent once more')
})
