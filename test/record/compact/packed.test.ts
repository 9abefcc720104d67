// What is held small says what was put in: long texts, children of a listing, and an index of names.
import fc from 'fast-check'
import t from 'tap'
import { nameIndex } from '../../../src/record/compact/name-index.js'
import { openChildPacker } from '../../../src/record/compact/packed-children.js'
import { packedText } from '../../../src/record/compact/packed-text.js'
import { type Instant, instant, type Listed, type ProjectId } from '../../../src/remote/remote.js'

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

const time = fc.option(
  fc.nat().map(ms => instant(ms + 1)),
  { nil: undefined },
)
const ids = fc.oneof(
  fc.bigInt({ min: 0n, max: 9223372036854775807n }).map(String),
  fc.constant('007'),
  fc.nat(3).map(String),
)
const children = fc.array(
  fc.record({
    id: ids,
    title: fc.string(),
    since: time,
    born: time,
    published: fc.boolean(),
    parent: fc.constantFrom(undefined, '1', '2'),
    place: fc.nat(511),
  }),
  { maxLength: 1100, size: 'max' },
)

t.test('a packed child says what it said before, also where its stretch is not full', async () => {
  const property = fc.property(children, fc.boolean(), (told, isClosed) => {
    const packer = openChildPacker<Instant, ProjectId>()
    const given = told.map(child => ({ ...child, kind: 'project', bundle: undefined }) as Listed<string>)
    const packed = given.map(child => packer.add(child))
    if (isClosed) packer.close()
    return given.every((child, at) => {
      const facts = Object.keys(child) as (keyof Listed<string>)[]
      return facts.every(fact => packed[at]?.[fact] === child[fact])
    })
  })
  fc.assert(property, { numRuns: 30 })
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
