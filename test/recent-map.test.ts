// The recent map holds what was used last, gives the value that was put last, and never holds more than it may.
import fc from 'fast-check'
import t from 'tap'
import { openRecentMap } from '../src/recent-map.js'

t.test('what is found is what was put last, and the most recent half is always found', async () => {
  const key = fc.integer({ min: 0, max: 19 }).map(String)
  const step = fc.oneof(
    fc.record({ what: fc.constant('set' as const), key, value: fc.nat() }),
    fc.record({ what: fc.constant('get' as const), key }),
    fc.record({ what: fc.constant('delete' as const), key }),
    fc.record({ what: fc.constant('clear' as const), key }),
  )
  const atMost = 8
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const map = openRecentMap<number>(atMost)
      const last = new Map<string, number>()
      let used: string[] = []
      for (const one of steps) {
        if (one.what === 'set') {
          map.set(one.key, one.value)
          last.set(one.key, one.value)
        } else if (one.what === 'delete') {
          map.delete(one.key)
          last.delete(one.key)
        } else if (one.what === 'clear') {
          map.clear()
          last.clear()
          used = []
        } else {
          const found = map.get(one.key)
          const isRecent = used.slice(-atMost / 2).includes(one.key)
          if (found !== undefined ? found !== last.get(one.key) : isRecent && last.has(one.key)) return false
        }
        used = used.filter(key => key !== one.key)
        if (last.has(one.key) && one.what !== 'delete') used.push(one.key)
      }
      return true
    }),
    { numRuns: 2000 },
  )
})

t.test('it does not grow', async t => {
  const map = openRecentMap<number>(100)
  for (let at = 0; at < 10_000; at += 1) map.set(String(at), at)
  const held = Array.from({ length: 10_000 }, (_, at) => at).filter(at => map.get(String(at)) !== undefined)
  t.ok(held.length <= 100 && held.length >= 50, `${held.length} held`)
  t.equal(map.get('9999'), 9999)
})
