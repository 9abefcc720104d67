// The interval set of a file's bytes: what was added is there, nothing else is, and the first gap is exact.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { IntervalSet } from '../../../../src/cache/content/download/interval-set.js'

const length = 40
const edge = fc.nat({ max: length })

t.test('any additions: bytes, holes and reach are those of a plain list of bytes', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(edge, edge), { maxLength: 12 }), additions => {
      const spans = new IntervalSet()
      const there: boolean[] = Array.from({ length: length + 1 }, () => false)
      for (const [start, end] of additions) {
        spans.add(start, end)
        for (let at = start; at < end; at++) there[at] = true
        if (spans.bytes !== there.filter(Boolean).length) throw new Error(`${spans.bytes} bytes`)
        for (let from = 0; from <= length; from++) {
          const reach = there.indexOf(false, from)
          if (spans.reach(from) !== reach) throw new Error(`from ${from} it reaches ${spans.reach(from)}`)
          for (let to = from; to <= length; to++) {
            const wanted = gapIn(there, from, to)
            if (!isDeepStrictEqual(spans.firstGap(from, to), wanted)) throw new Error(`${from} to ${to}`)
          }
        }
      }
    }),
  )
})

/** The last one of the list is never there. */
function gapIn(there: readonly boolean[], from: number, to: number) {
  const start = there.indexOf(false, from)
  const end = there.indexOf(true, start)
  return start < to ? { start, end: end < 0 ? to : Math.min(end, to) } : undefined
}
