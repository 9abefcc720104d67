// Pace: how often and how fast a service is asked, on a clock that tests wind by hand.
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import { Breaker } from '../../../src/remote/client/breaker.js'
import { withRetries } from '../../../src/remote/client/client.js'
import { Limiter, openBandwidthLimiter } from '../../../src/remote/client/limiter.js'
import type { AttemptResult } from '../../../src/remote/client/outgoing.js'
import { type Clock, dueIn } from '../../../src/remote/clock.js'
import { baseUrl } from '../../../src/remote/connection/address.js'
import { retryAfter } from '../../../src/remote/http/http.js'
import { instant, type RequestContext } from '../../../src/remote/remote.js'
import { failsAs } from '../fails.js'

/** Jumps to the next timer whenever nothing else is left to do. */
function jumping(): Clock {
  let time = 0
  const timers: { readonly at: number; readonly action: () => void }[] = []
  const jump = () => {
    timers.sort((one, other) => one.at - other.at)
    const next = timers.shift()
    if (next === undefined) return
    time = Math.max(time, next.at)
    next.action()
    setImmediate(jump)
  }
  return {
    now: () => instant(time),
    after(milliseconds, action) {
      const timer = { at: time + milliseconds, action }
      timers.push(timer)
      setImmediate(jump)
      return () => {
        const place = timers.indexOf(timer)
        if (place !== -1) timers.splice(place, 1)
      }
    },
  }
}
const asking = (deadline: number, priority?: RequestContext['priority']) =>
  dueIn(deadline, { now: () => instant(0) }, priority)
const away = new Failure('unreachable', 'no connection')
const bad = (more: Partial<AttemptResult<string>> = {}): AttemptResult<string> =>
  ({ ended: 'badly', failure: away, again: true, ...more }) as AttemptResult<string>

t.test('requests keep their pace, and users go before guesses', async t => {
  const clock = jumping()
  const limiter = new Limiter(64, clock, 10)
  const request = { weight: 'question', isSilent: () => false, giveUp: undefined } as const
  const turns = (['guess', 'guess', 'user', 'user'] as const).map(async lane => {
    await limiter.enter({ ...request, context: asking(60_000, lane) }, clock.now())
    return clock.now()
  })
  t.same(await Promise.all(turns), [0, 300, 100, 200])
  for (const _ of [1, 2]) t.equal(limiter.again(instant(300)), 100, 'one that waits takes no turn')
})

t.test('bytes keep to the limit', async t => {
  const clock = jumping()
  const spend = openBandwidthLimiter(1000, clock)
  for (let piece = 0; piece < 5; piece++) await spend(500)
  t.equal(clock.now(), 2500)
})

const patience = () => 1_000

t.test('AVAIL-4 a service that does not answer a probe either is asked every 2 s', async t => {
  const clock = { time: 0, now: () => instant(clock.time), after: () => () => {} }
  let probes = 0
  const probe = async () => {
    probes += 1
    throw away
  }
  const breaker = new Breaker(clock, probe, patience)
  for (let count = 0; count < 3; count++) {
    t.equal(breaker.admit(asking(60_000)), undefined)
    breaker.failed(instant(clock.time))
  }
  await new Promise(setImmediate)
  t.equal(breaker.away?.since, instant(0))
  t.throws(() => breaker.admit(asking(60_000)), /did not answer \(no connection\)/)
  clock.time = 1_999
  t.throws(() => breaker.admit(asking(60_000)))
  t.equal(probes, 1)
  clock.time = 2_000
  await failsAs(t, 'unreachable', breaker.admit(asking(60_000)) ?? Promise.resolve())
  t.equal(probes, 2, 'one probe')
  t.throws(() => breaker.admit(asking(60_000)), 'one only')
  breaker.heard()
  t.equal(breaker.admit(asking(60_000)), undefined)
})

t.test('AVAIL-4 a probe that hangs hides no later silence', async t => {
  const clock = { time: 0, now: () => instant(clock.time), after: () => () => {} }
  let probes = 0
  const hangs = (): Promise<void> => {
    probes += 1
    return new Promise(() => {})
  }
  const breaker = new Breaker(clock, hangs, patience)
  for (const count of [1, 2, 3]) {
    clock.time += 10
    for (const since of [0, 1]) breaker.silent(instant(clock.time + since))
    t.equal(probes, count)
    breaker.heard()
  }
})

t.test('AVAIL-4 one slow question is no outage as long as others are answered', async t => {
  const clock = { time: 0, now: () => instant(clock.time), after: () => () => {} }
  const breaker = new Breaker(clock, () => Promise.reject(away), patience)
  for (let count = 0; count < 5; count++) {
    const since = instant(clock.time)
    clock.time += 5
    breaker.heard()
    clock.time += 5
    breaker.failed(since)
    breaker.silent(since)
  }
  await new Promise(setImmediate)
  t.equal(breaker.away, undefined)
})

t.test('a question that met a silence itself says so, also when the breaker opens meanwhile', async t => {
  const open = new Failure('unreachable', 'the service has not answered for a while')
  const refused = bad({ failure: open, again: false, unasked: true })
  const ends = [bad(), bad(), refused]
  const next = async () => ends.shift() ?? refused
  t.equal(await failsAs(t, 'unreachable', withRetries(asking(60_000), jumping(), next)), away)
  t.equal(
    await failsAs(t, 'unreachable', withRetries(asking(60_000), jumping(), next)),
    open,
    'one that never went out says why it does not',
  )
})

t.test('a question is asked four times at most and never past its deadline', async t => {
  let made = 0
  const count = (end: AttemptResult<string>) => async () => {
    made += 1
    return end
  }
  await failsAs(t, 'unreachable', withRetries(asking(60_000), jumping(), count(bad())))
  t.equal(made, 4)
  made = 0
  const clock = jumping()
  await failsAs(t, 'unreachable', withRetries(asking(250), clock, count(bad())))
  t.ok(made < 4 && clock.now() < 250)
  made = 0
  await failsAs(t, 'unreachable', withRetries(asking(60_000), jumping(), count(bad({ again: false }))))
  t.equal(made, 1)
})

t.test('what the service asks to wait is waited, in seconds or until a date', async t => {
  const clock = jumping()
  const ends = [bad({ after: 7000 }), { ended: 'well', value: 'yes' } as const]
  t.equal(await withRetries(asking(60_000), clock, async () => ends.shift() ?? bad()), 'yes')
  t.equal(clock.now(), 7000)
  t.equal(retryAfter('3', 0), 3000)
  t.equal(retryAfter('Thu, 01 Jan 1970 00:00:09 GMT', 4000), 5000)
  t.equal(retryAfter('Thu, 01 Jan 1970 00:00:09 GMT', 20_000), 0)
  for (const nonsense of [undefined, 'soon', ['1', '2']]) t.equal(retryAfter(nonsense, 0), undefined)
})

t.test('an address is completed, or refused with what to type', async t => {
  const done = {
    'https://host': 'https://host/create/rest',
    ' https://host:8443/ ': 'https://host:8443/create/rest',
    'https://host/other/rest/': 'https://host/other/rest',
    'http://127.0.0.1:8080': 'http://127.0.0.1:8080/create/rest',
    'http://[::1]:8080': 'http://[::1]:8080/create/rest',
  }
  for (const [typed, base] of Object.entries(done)) t.equal(baseUrl(typed).href, base)
  for (const typed of [
    '',
    'host',
    'ftp://host',
    'https://',
    'https://u:secret@host',
    'https://host/?a=1',
    'http://host',
  ])
    t.throws(() => baseUrl(typed), { name: 'Failure' }, typed)
  t.throws(() => baseUrl('host'), { message: /"host" is no web address; type it like https:/ })
  for (const typed of ['https://u:secret@host', 'u:secret@host', 'https://u:secret@'])
    t.notMatch(String(t.throws(() => baseUrl(typed))), /secret/)
  t.equal(baseUrl('http://host', 'anywhere').href, 'http://host/create/rest')
})
