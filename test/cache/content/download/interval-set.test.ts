// The interval set of a file's bytes: what was added is there, nothing else is, and the first gap is exact.
import fc from 'fast-check'
import t from 'tap'
import { IntervalSet } from '../../../../src/cache/content/download/interval-set.js'

const length = 40
const edge = fc.nat({ max: length })

t.test('any additions: bytes, holes and reach are those of a plain list of bytes', async t => {
  let asked = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(edge, edge), { maxLength: 12 }), additions => {
      const spans = new IntervalSet()
      const there: boolean[] = Array.from({ length: length + 1 }, () => false)
      for (const [start, end] of additions) {
        spans.add(start, end)
        for (let at = start; at < end; at++) there[at] = true
        if (spans.bytes !== there.filter(Boolean).length) throw new Error(`${spans.bytes} bytes`)
        for (let from = 0; from <= length; from++) {
          let reach = from
          while (there[reach]) reach++
          if (spans.reach(from) !== reach) throw new Error(`from ${from} it reaches ${spans.reach(from)}`)
          for (let to = from; to <= length; to++) {
            asked++
            const hole = spans.firstGap(from, to)
            const wanted = firstGap(there, from, to)
            if (hole?.start !== wanted?.start || hole?.end !== wanted?.end)
              throw new Error(`${from} to ${to}: ${JSON.stringify(hole)}, not ${JSON.stringify(wanted)}`)
          }
        }
      }
    }),
  )
  t.ok(asked > 10_000, `${asked} holes asked for`)
})

function firstGap(
  there: readonly boolean[],
  from: number,
  to: number,
): { start: number; end: number } | undefined {
  let start = from
  while (start < to && there[start]) start++
  if (start >= to) return undefined
  let end = start
  while (end < to && !there[end]) end++
  return { start, end }
}
