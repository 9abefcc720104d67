// Time that passes whatever the machine's date does: set forward, set back, and a machine that sleeps.
import t from 'tap'
import { monotonicTime } from '../../src/remote/clock.js'

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

t.test('TIME-2 it is the date, and runs as the date does', async t => {
  const { now, pass } = machineAt(1_000_000)
  t.equal(now(), 1_000_000)
  for (let step = 0; step < 1_000; step += 1) {
    pass(10)
    now()
  }
  t.equal(now(), 1_010_000)
})

t.test('TIME-2 sleep of the machine is time that passes, also where its date is set meanwhile', async t => {
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
