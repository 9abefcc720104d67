// Lent memory has one user at a time, and is lent again only once it was given back.
import t from 'tap'
import { giveMemoryBack, isLent, lendMemory } from '../src/lent-memory.js'

t.test('no two users have the same memory', async t => {
  const sizes = [16 << 10, 100_000, 128 << 10, 200_000, 256 << 10]
  const held = new Set<ArrayBufferLike>()
  for (let round = 0; round < 200; round += 1) {
    const bytes = lendMemory(sizes[round % sizes.length] ?? 0)
    t.equal(bytes.length, sizes[round % sizes.length])
    t.ok(isLent(bytes))
    t.notOk(held.has(bytes.buffer), 'it is in use')
    held.add(bytes.buffer)
    if (round % 3 === 0) continue
    held.delete(bytes.buffer)
    giveMemoryBack(bytes)
    t.notOk(isLent(bytes))
    giveMemoryBack(bytes)
  }
})

t.test('what was given back is used again, once', async t => {
  const first = lendMemory(50_000)
  giveMemoryBack(first)
  giveMemoryBack(first)
  const [second, third] = [lendMemory(60_000), lendMemory(60_000)]
  t.equal(second.buffer, first.buffer)
  t.not(third.buffer, second.buffer)
})

t.test('short and long ones, and memory of others, are left alone', async t => {
  for (const bytes of [lendMemory(10), lendMemory(2 << 20), Buffer.alloc(100_000), Buffer.from('x')]) {
    t.notOk(isLent(bytes))
    giveMemoryBack(bytes)
  }
  const whole = lendMemory(100_000)
  t.notOk(isLent(whole.subarray(1)), 'a part of it')
  t.notOk(isLent(whole.subarray(0, 50_000)), 'its beginning')
})
