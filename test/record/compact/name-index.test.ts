// An index of names that is held small finds what was put in.
import fc from 'fast-check'
import t from 'tap'
import { nameIndex } from '../../../src/record/compact/name-index.js'

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
