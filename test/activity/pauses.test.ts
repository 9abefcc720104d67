// Pauses of the main thread, by a clock of the test's own.
import t from 'tap'
import { lookEvery, Pauses } from '../../src/activity/activity.js'

t.test('CLI-22 the longest pause of a second or more is told for ten minutes', async t => {
  let now = 5_000
  const pauses = new Pauses(() => now)
  function lookAfter(milliseconds: number): void {
    now += milliseconds
    pauses.look()
  }
  pauses.look()
  for (const milliseconds of [lookEvery, lookEvery + 900]) lookAfter(milliseconds)
  t.equal(pauses.longest(), undefined, 'a short one is none')
  lookAfter(lookEvery + 3_000)
  lookAfter(lookEvery + 1_200)
  t.same(pauses.longest(), { milliseconds: 3_000, ago: lookEvery + 1_200 })
  now += 10 * 60_000 - 1_200
  t.match(pauses.longest(), { milliseconds: 1_200 }, 'the longer one is forgotten first')
  now += 10 * 60_000
  t.equal(pauses.longest(), undefined)
})
