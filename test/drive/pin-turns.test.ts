// Promise of the turns of pins: however many there are, no more requests than that are under way side by side.
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openPinTurns } from '../../src/drive/pins/pin-turns.js'

let draw = Number(process.env['CALCFS_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`CALCFS_TEST_SEED=${draw}`)

function drawn(below: number): number {
  draw = (draw * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((draw / 2 ** 31) * below)
}

t.test('16 requests of all pins at most are under way, fewer where there is less room (PIN-6)', async t => {
  let room = 100
  const turns = openPinTurns(() => room)
  let [under, most, done] = [0, 0, 0]
  const run = (requests: number) =>
    turns.run(async () => {
      const alone = under === 0
      under += requests
      if (!alone) most = Math.max(most, under)
      for (let rest = drawn(4); rest >= 0; rest -= 1) await setImmediate()
      under -= requests
      done += 1
      if (drawn(10) === 0) throw new Error('refused')
    }, requests)
  const runs = (count: number) => Promise.allSettled(Array.from({ length: count }, () => run(1 + drawn(3))))
  await runs(300)
  t.ok(most > 8 && most <= 16, `${most} side by side`)
  ;[room, most] = [3, 0]
  await runs(100)
  t.ok(most <= 3, `${most} side by side`)
  ;[room, most] = [0, 0]
  await runs(20)
  t.equal(most, 0, 'without room one after the other')
  t.equal(done, 420, 'each has its turn, whatever becomes of the others')
})
