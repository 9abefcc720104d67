// Names: legal, unique, stable and reversible, whatever the service holds.
import fc from 'fast-check'
import t from 'tap'
import {
  compareIds,
  escapeTitle,
  longestName,
  markedName,
  type NamedChild,
  nameChildren,
  nameDerived,
  nameFiles,
  splitMark,
  titleOf,
} from '../../../src/drive/nodes/name.js'

const awkward = fc.constantFrom(
  '.',
  '..',
  '',
  '/',
  'a/b',
  '%',
  '%2F',
  '%25',
  '%u0041',
  '%empty',
  'end ',
  ' start',
  'tab\t',
  '\n',
  '\u0000',
  '.project.json',
  '.shares',
  'TS~c12',
  'TS~p1',
  'x~h0123456789abcdef',
  'TS~c12.xyz',
  'ü'.repeat(200),
  'é',
  'e\u0301',
  '\ud800',
  '\ufffd',
  '水',
  '.calculation.json.swp',
  '.#a',
)
const title = fc.oneof(
  awkward,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.tuple(awkward, fc.string({ maxLength: 300 })).map(([a, b]) => a + b),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map(units => String.fromCharCode(...units)),
)
const id = fc.bigInt({ min: 0n, max: 9223372036854775807n }).map(String)
const child: fc.Arbitrary<NamedChild> = fc.record({
  kind: fc.constantFrom('project' as const, 'calculation' as const),
  id,
  title,
})
const siblings = fc.uniqueArray(child, { selector: c => `${c.kind}${c.id}`, maxLength: 12 })

const legal = (name: string): boolean =>
  name !== '' &&
  name !== '.' &&
  name !== '..' &&
  Buffer.byteLength(name) <= longestName &&
  !name.includes('/') &&
  !name.includes('\u0000') &&
  Buffer.from(name).toString() === name

t.test('a title comes back from its name', async () => {
  fc.assert(
    fc.property(title, text => titleOf(escapeTitle(text)) === text),
    { numRuns: 3000 },
  )
})

t.test('different titles have different names', async () => {
  fc.assert(
    fc.property(title, title, (a, b) => a === b || escapeTitle(a) !== escapeTitle(b)),
    { numRuns: 3000 },
  )
})

t.test('siblings have legal, different names that do not depend on the order of discovery', async () => {
  fc.assert(
    fc.property(
      siblings.chain(all => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        const names = nameChildren(all)
        const again = nameChildren(shuffled)
        return (
          names.every(legal) &&
          new Set(names).size === names.length &&
          shuffled.every((one, at) => again[at] === names[all.indexOf(one)])
        )
      },
    ),
    { numRuns: 2000 },
  )
})

t.test('name~c7 always says which child is meant, and no title can pretend to it', async () => {
  fc.assert(
    fc.property(child, title, (one, other) => {
      const marked = splitMark(markedName(one))
      return (
        marked?.id === one.id && marked.letter === one.kind[0] && splitMark(escapeTitle(other)) === undefined
      )
    }),
    { numRuns: 2000 },
  )
})

t.test('the bare name goes to the project before the calculation, then to the lower id', async t => {
  const names = nameChildren([
    { kind: 'calculation', id: '9', title: 'A' },
    { kind: 'calculation', id: '10', title: 'A' },
    { kind: 'project', id: '100', title: 'A' },
    { kind: 'calculation', id: '9007199254740993', title: 'B' },
    { kind: 'calculation', id: '9007199254740992', title: 'B' },
  ])
  t.same(names, ['A~c9', 'A~c10', 'A', 'B~c9007199254740993', 'B'])
})

t.test(
  'files of one calculation keep apart, and the generated geometry yields to a file of its name',
  async () => {
    fc.assert(
      fc.property(fc.uniqueArray(title, { maxLength: 10 }), title, id, (titles, own, number) => {
        const files = nameFiles(titles)
        const geometry = nameDerived({ id: number, title: own }, '.xyz', files)
        return (
          files.size === titles.length &&
          [...files.keys()].every(legal) &&
          legal(geometry) &&
          !files.has(geometry)
        )
      }),
      { numRuns: 2000 },
    )
  },
)

t.test('worked examples', async t => {
  t.equal(escapeTitle('a/b'), 'a%2Fb')
  t.equal(escapeTitle('100%'), '100%')
  t.equal(escapeTitle('100%25'), '100%2525')
  t.equal(escapeTitle('..'), '%2E%2E')
  t.equal(escapeTitle('.project.json'), '%2Eproject.json')
  t.equal(escapeTitle('.hidden'), '.hidden')
  t.equal(escapeTitle('end '), 'end%20')
  t.equal(escapeTitle('Übergang 水'), 'Übergang 水')
  t.equal(nameDerived({ id: '7', title: 'TS1' }, '.xyz', new Map()), 'TS1.xyz')
  t.equal(nameDerived({ id: '7', title: 'TS1' }, '.xyz', new Map([['TS1.xyz', 'TS1.xyz']])), 'TS1~c7.xyz')
  t.ok(compareIds('9', '10') < 0)
})
