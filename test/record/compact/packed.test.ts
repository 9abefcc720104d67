// What is held small says what was put in: long texts, and an index of names.
import fc from 'fast-check'
import t from 'tap'
import { nameIndex } from '../../../src/record/compact/name-index.js'
import { packedText } from '../../../src/record/compact/packed-text.js'

t.test('a packed text has the bytes of its parts, wherever it is read', async () => {
  const parts = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 40 })
  const property = fc.property(
    parts,
    fc.constantFrom(1, 100, 4_000, 40_000),
    fc.array(fc.tuple(fc.nat(), fc.nat(300_000)), { maxLength: 8 }),
    (texts, times, reads) => {
      const long = texts.map(text => text.repeat(times))
      const bytes = Buffer.from(long.map(text => Buffer.from(text).toString()).join(''))
      const packed = packedText(long)
      if (packed.length !== bytes.length) return false
      return reads.every(([at, length]) => {
        const start = at % (bytes.length + 2)
        const found = Buffer.from(packed.subarray(start, start + length))
        return found.equals(bytes.subarray(start, start + length))
      })
    },
  )
  fc.assert(property, { numRuns: 150 })
})

t.test('an index finds every name, the last of equal ones, and no other', async () => {
  const property = fc.property(
    fc.array(fc.string({ maxLength: 3 })),
    fc.string({ maxLength: 3 }),
    (names, other) => {
      const index = nameIndex(names.map(name => ({ name })))
      return [...names, other].every(name => {
        const place = names.lastIndexOf(name)
        return index.find(name) === (place < 0 ? undefined : place)
      })
    },
  )
  fc.assert(property, { numRuns: 500 })
})
