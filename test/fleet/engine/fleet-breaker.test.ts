// The breaker of a fleet: open where it is slow or gone, closed after two good probes, and slower to believe what did not last.
import t from 'tap'
import { type FleetBreakerPorts, openFleetBreaker } from '../../../src/fleet/engine/fleet-breaker.js'
import type { Clock } from '../../../src/remote/clock.js'
import { instant } from '../../../src/remote/remote.js'

/** Time passes only where the test says so; each timer runs at its own moment. */
function stillClock() {
  let time = 1_000_000
  let timers: { readonly due: number; readonly action: () => void }[] = []
  const clock: Clock = {
    now: () => instant(time),
    after(milliseconds, action) {
      const one = { due: time + milliseconds, action }
      timers.push(one)
      return () => {
        timers = timers.filter(other => other !== one)
      }
    },
  }
  async function pass(milliseconds: number): Promise<void> {
    const until = time + milliseconds
    for (;;) {
      const [next] = timers.filter(({ due }) => due <= until).sort((one, other) => one.due - other.due)
      if (next === undefined) break
      timers = timers.filter(other => other !== next)
      time = next.due
      next.action()
      await new Promise(setImmediate)
    }
    time = until
  }
  return { clock, pass }
}

function breakerOf(more: Partial<FleetBreakerPorts> = {}) {
  const { clock, pass } = stillClock()
  const said: string[] = []
  const probes: number[] = []
  const server = { takes: 1, answers: true }
  const breaker = openFleetBreaker({
    ...more,
    clock,
    async probe() {
      probes.push(clock.now())
      if (!server.answers) throw new Error('gone')
      return server.takes
    },
    reasonOf: thrown => (thrown as Error).message,
    opened: sentence => said.push(sentence),
    closed: () => said.push('closed'),
  })
  return { breaker, server, said, probes, pass, clock }
}

/** Milliseconds for which it stays open, tried every 50. */
async function openFor({ breaker, pass, clock }: ReturnType<typeof breakerOf>): Promise<number> {
  const began = clock.now()
  while (breaker.isOpen && clock.now() - began < 200_000) await pass(50)
  return clock.now() - began
}

t.test('FLEET-3 it begins open, and one good probe closes it', async t => {
  const bed = breakerOf()
  t.match(bed.breaker, { isOpen: true, why: 'it is not connected yet' })
  await bed.pass(500)
  t.equal(bed.breaker.isOpen, false)
})

t.test('FLEET-3 what never was there is told as well', async t => {
  const { breaker, said } = breakerOf()
  breaker.failed('refused')
  breaker.failed('refused')
  t.same(said, ['refused'])
})

t.test('FLEET-3 a median over 50 ms opens it, one slow command does not', async t => {
  const { breaker, pass, said } = breakerOf()
  await pass(500)
  for (let at = 0; at < 14; at += 1) breaker.answered(1)
  breaker.answered(900)
  t.equal(breaker.isOpen, false)
  for (let at = 0; at < 15; at += 1) breaker.answered(80)
  t.equal(breaker.why, 'its commands take 80 ms')
  t.same(said, ['closed', 'its commands take 80 ms'])
})

t.test('FLEET-3 an outage is probed twice a second, and over after two good probes', async t => {
  const bed = breakerOf()
  await bed.pass(10_000)
  bed.server.answers = false
  bed.breaker.failed('gone')
  bed.probes.length = 0
  await bed.pass(10_000)
  t.equal(bed.probes.length, 20)
  bed.server.answers = true
  t.equal(await openFor(bed), 1_000)
})

t.test('FLEET-3 a reason that changes is told', async t => {
  const bed = breakerOf()
  await bed.pass(1_000)
  bed.server.answers = false
  bed.breaker.silent('it does not answer')
  await bed.pass(2_000)
  t.equal(bed.breaker.why, 'gone')
  t.same(bed.said, ['closed', 'it does not answer', 'gone'])
})

t.test(
  'FLEET-3 a cluster that goes on failing is probed less and less often, and soon again once it was well',
  async t => {
    const bed = breakerOf({ longestFailingPauseMs: 4_000 })
    await bed.pass(10_000)
    bed.server.answers = false
    bed.breaker.failed('gone')
    bed.probes.length = 0
    await bed.pass(60_000)
    t.ok(bed.probes.length < 20, `${bed.probes.length} probes in a minute`)
    bed.server.answers = true
    t.ok((await openFor(bed)) <= 4_500)
    await bed.pass(10_000)
    bed.server.answers = false
    bed.breaker.failed('gone')
    bed.server.answers = true
    t.equal(await openFor(bed), 1_000)
  },
)

t.test('FLEET-3 one that was silent for a moment is used again as soon as it answers', async t => {
  const bed = breakerOf()
  await bed.pass(10_000)
  bed.breaker.silent('it does not answer')
  t.equal(bed.breaker.isOpen, true)
  t.equal(await openFor(bed), 50)
  bed.breaker.silent('it does not answer')
  t.equal(await openFor(bed), 1_500, 'silent again at once: it has to prove itself')
  await bed.pass(10_000)
  bed.server.answers = false
  bed.breaker.silent('it does not answer')
  await bed.pass(5_000)
  bed.server.answers = true
  t.equal(await openFor(bed), 1_000)
})

t.test(
  'FLEET-3 what comes back and is gone again at once is believed later each time, and soon again once it has lasted',
  async t => {
    const bed = breakerOf()
    await bed.pass(20_000)
    const waits: number[] = []
    for (let at = 0; at < 9; at += 1) {
      bed.breaker.failed('reset')
      // A new connection says nothing: the last one did not last.
      if (at > 0) bed.breaker.connected()
      waits.push(await openFor(bed))
      await bed.pass(1_000)
    }
    t.same(waits, [1_000, 1_500, 2_500, 4_500, 8_500, 16_500, 30_500, 30_500, 30_500])
    await bed.pass(10_000)
    bed.breaker.failed('reset')
    t.equal(await openFor(bed), 1_000)
  },
)
