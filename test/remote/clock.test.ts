// Time that passes whatever the machine's date does: set forward, set back, and a machine that sleeps.
import t from 'tap'
import {
  dueIn,
  dueSooner,
  every,
  monotonicTime,
  sleep,
  systemClock,
  withDeadline,
} from '../../src/remote/clock.js'
import { instant } from '../../src/remote/remote.js'
import { clockOf, hastyClock } from '../testbed/clocks.js'

const hour = 3_600_000

function machineAt(start: number) {
  const state = { wall: start, monotonic: 5_000, uptime: 7_000 }
  const now = monotonicTime({
    wall: () => state.wall,
    monotonic: () => state.monotonic,
    uptime: () => state.uptime,
  })
  const pass = (milliseconds: number): void => {
    state.wall += milliseconds
    state.monotonic += milliseconds
    state.uptime += milliseconds
  }
  return { state, now, pass }
}

t.test('AVAIL-6 it is the date, and runs as the date does', async t => {
  const { now, pass } = machineAt(1_000_000)
  t.equal(now(), 1_000_000)
  for (let step = 0; step < 1_000; step += 1) {
    pass(10)
    now()
  }
  t.equal(now(), 1_010_000)
})

for (const [how, by] of [
  ['forward', hour],
  ['back', -hour],
  ['forward by a little', 30_000],
] as const) {
  t.test(`AVAIL-6 a date that is set ${how} ends no wait, and is reached by and by`, async t => {
    const { state, now, pass } = machineAt(10 * hour)
    const before = now()
    state.wall += by
    t.equal(now(), before, 'no time has passed')
    pass(10_000)
    t.ok(Math.abs(now() - before - 10_000) <= 1_000, `${now() - before} ms in ten seconds`)
    let last = now()
    for (let step = 0; step < 12 * 60; step += 1) {
      pass(60_000)
      const next = now()
      if (next < last) t.fail(`it runs back at ${last}`)
      last = next
    }
    t.equal(last, state.wall, 'twelve hours later it is the date')
  })
}

t.test('AVAIL-6 sleep of the machine is time that passes, also where its date is set meanwhile', async t => {
  const { state, now, pass } = machineAt(10 * hour)
  const before = now()
  state.wall += 8 * hour
  state.uptime += 8 * hour
  t.equal(now() - before, 8 * hour)
  pass(1_000)
  state.wall += 3 * hour
  state.uptime += 8 * hour
  t.ok(Math.abs(now() - before - 16 * hour - 1_000) <= hour, 'eight hours more, or nearly')
})

t.test('an answer is waited for until it is due, and no longer', async t => {
  const clock = clockOf(() => instant(5_000))
  t.same(dueIn(300, clock), { deadline: 5_300, priority: 'user' })
  t.same(dueIn(300, clock, 'guess'), { deadline: 5_300, priority: 'guess' })
  t.same(dueSooner(dueIn(300, clock, 'guess'), 100, clock), { deadline: 5_100, priority: 'guess' })
  t.same(dueSooner(dueIn(300, clock), 400, clock), { deadline: 5_300, priority: 'user' })
  const answer = sleep(clock, 1).then(() => 'an answer')
  t.equal(await withDeadline(answer, dueIn(60_000, clock), clock, 'too late'), 'an answer')
  const none = new Promise(() => {})
  const late = { kind: 'timeout', message: 'too late' }
  await t.rejects(withDeadline(none, dueIn(1, clock), clock, 'too late'), late)
  await t.rejects(withDeadline(none, { deadline: instant(4_000) }, clock, 'too late'), late, 'due before')
})

t.test('what is done again and again is done until it is ended', async t => {
  const clock = hastyClock()
  let times = 0
  const end = every(clock, 3_600_000, () => {
    times += 1
  })
  for (const done of [1, 2, 3]) {
    clock.pass(3_600_000)
    t.equal(times, done)
  }
  end()
  clock.pass(7_200_000)
  t.equal(times, 3)
})

t.test('long waits that end at about one moment end each for itself, and not before their time', async t => {
  const began = performance.now()
  const ended: number[] = []
  const callOff: (() => void)[] = []
  const over = Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      at % 4 === 0
        ? new Promise<void>(done => {
            systemClock.after(1_000 + at * 2, () => {
              t.ok(performance.now() - began >= 1_000 + at * 2 - 1, `${at} ends in time`)
              ended.push(at)
              // Those that are due at the same moment can still be called off.
              for (const end of callOff) end()
              done()
            })
          })
        : Promise.resolve(void callOff.push(systemClock.after(1_200 + at, () => ended.push(at)))),
    ),
  )
  await over
  await sleep(systemClock, 400)
  t.same(
    ended.toSorted((one, other) => one - other),
    Array.from({ length: 10 }, (_, at) => at * 4),
  )
})
