// How many requests go out side by side, on a clock that tests wind by hand and against services of known strength.
import t from 'tap'
import type { Clock } from '../../../src/remote/clock.js'
import { openAdaptiveConcurrency } from '../../../src/remote/pipeline/adaptive-concurrency.js'
import { openPriorityLimiter } from '../../../src/remote/pipeline/priority-limiter.js'
import { instant, type RequestContext } from '../../../src/remote/remote.js'

/** So many milliseconds of asking as much as the width allows; answers each take what the service needs for them. */
function asking(
  speed: ReturnType<typeof openAdaptiveConcurrency>,
  clock: { time: number },
  work: Work,
): void {
  const end = clock.time + work.milliseconds
  const underWay: { readonly since: number; readonly until: number }[] = []
  while (clock.time < end) {
    while (underWay.length < Math.min(speed.width, work.wanted ?? Number.POSITIVE_INFINITY)) {
      speed.began(underWay.length)
      underWay.push({ since: clock.time, until: clock.time + work.wait(underWay.length + 1) })
    }
    underWay.sort((one, other) => one.until - other.until)
    const next = underWay.shift()
    if (next === undefined) return
    clock.time = next.until
    speed.answered(next.until - next.since, 100)
  }
}

interface Work {
  readonly milliseconds: number
  /** How many the user asks for at once. */
  readonly wanted?: number
  /** Milliseconds an answer takes where so many are under way. */
  readonly wait: (underWay: number) => number
}

function begin(): {
  readonly own: { time: number }
  readonly speed: ReturnType<typeof openAdaptiveConcurrency>
} {
  const own = { time: 0 }
  return {
    own,
    speed: openAdaptiveConcurrency(64, { now: () => instant(own.time), after: () => () => {} }, () => {}),
  }
}

const question = { weight: 'question', repeatable: true, yields: 0, preempt: () => {} } as const

const farAway = () => 30
/** Four at a time, each 2 ms: what comes on top waits. */
const small = (underWay: number) => 2 * Math.max(1, Math.ceil(underWay / 4))

t.test('a service far away is asked by as many connections as there may be', async t => {
  const { own, speed } = begin()
  t.equal(speed.width, 16)
  asking(speed, own, { milliseconds: 2_000, wait: farAway })
  t.equal(speed.width, 64)
})

t.test('a small service is not asked for more than it can do', async t => {
  const { own, speed } = begin()
  asking(speed, own, { milliseconds: 5_000, wait: small })
  t.ok(speed.width <= 16, `${speed.width} side by side`)
})

t.test('few requests change nothing', async t => {
  const { own, speed } = begin()
  asking(speed, own, { milliseconds: 5_000, wanted: 3, wait: farAway })
  t.equal(speed.width, 16)
})

t.test('a service that has too much to do is asked for half, for ten seconds at least', async t => {
  const { own, speed } = begin()
  asking(speed, own, { milliseconds: 2_000, wait: farAway })
  speed.pushedBack()
  t.equal(speed.width, 32)
  asking(speed, own, { milliseconds: 9_000, wait: farAway })
  t.equal(speed.width, 32)
  asking(speed, own, { milliseconds: 2_000, wait: farAway })
  t.equal(speed.width, 64, 'then it is tried again')
  for (let times = 0; times < 10; times += 1) speed.pushedBack()
  t.equal(speed.width, 2, 'and never to a stand')
})

t.test('guesses leave connections free at every width', { timeout: 5_000 }, async t => {
  for (const connections of [2, 8, 64]) {
    const clock: Clock = { now: () => instant(0), after: () => () => {} }
    const places = openPriorityLimiter(connections, clock)
    const ask = (priority: RequestContext['priority']): RequestContext => ({
      deadline: instant(1_000),
      priority,
    })
    const width = Math.min(connections, 16)
    for (let guess = 0; guess < width; guess += 1) void places.enter(question, ask('guess'))
    const turn = await places.enter(question, ask('user'))
    t.ok(turn, `a user finds a place among ${connections} connections full of guesses`)
  }
})

t.test(
  'AVAIL-8 a guess yields its connection to a user, but for one whose bytes are there in a moment',
  { timeout: 5_000 },
  async t => {
    const own = { time: 0 }
    const clock: Clock = { now: () => instant(own.time), after: () => () => {} }
    const slots = openPriorityLimiter(16, clock)
    const dropped: string[] = []
    const enter = (name: string, priority: RequestContext['priority']) =>
      slots.enter(
        { weight: 'download', repeatable: true, yields: 0, preempt: () => dropped.push(name) },
        { deadline: instant(60_000), priority },
      )
    const bodies = { 'nearly through': 400_000, long: 1 << 30, 'of unknown length': 0 }
    const guesses = Object.keys(bodies).flatMap(kind => [kind, kind, kind])
    const held = await Promise.all(guesses.map(name => enter(name, 'guess')))
    for (const slot of held) slot.sent()
    own.time = 30
    for (const [at, stated] of guesses.map(kind => bodies[kind as keyof typeof bodies]).entries())
      held[at]?.answered(30, stated)
    own.time = 34
    for (const slot of held) slot.moved(300_000)
    for (let user = 0; user < 12; user += 1) void enter('a user', 'user')
    t.ok(dropped.length > 0)
    t.notOk(dropped.includes('nearly through'), dropped.join(', '))
    own.time = 400
    for (let user = 0; user < 12; user += 1) void enter('a user', 'user')
    t.ok(dropped.includes('nearly through'), 'where they do not come, it yields, too')
    t.notOk(dropped.includes('a user'))
  },
)
