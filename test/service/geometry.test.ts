// Promises of the generated .xyz: which geometry of a CML it is, and that no digit changes.
import t from 'tap'
import { geometryOf } from '../../src/service/content/geometry.js'

const atom = (element: string, x: string) => `<atom elementType="${element}" x3="${x}" y3="0" z3="-1.50"/>`
const molecule = (...atoms: string[]) => `<molecule><atomArray>${atoms.join('')}</atomArray></molecule>`
const words = (xyz: string | undefined) => xyz?.trim().split(/\s+/)

t.test('of several molecules the last with coordinates counts', async t => {
  const cml = `<cml>${molecule(atom('C', '1'))}${molecule(atom('N', '2.000'), atom('O', '3'))}<molecule><atomArray/></molecule></cml>`
  t.same(words(geometryOf(cml, 'title')), ['2', 'title', 'N', '2.000', '0', '-1.50', 'O', '3', '0', '-1.50'])
})

t.test('a name space, the short form of an array and a title of two lines are understood', async t => {
  const short = '<c:molecule><c:atomArray elementType="H He" x3="0 1" y3="0 1" z3="0 1"/></c:molecule>'
  const xyz = geometryOf(`<c:cml xmlns:c="x">${short}</c:cml>`, 'two\nlines')
  t.equal(xyz?.split('\n')[1], 'two lines')
  t.same(words(xyz)?.slice(3), ['H', '0', '0', '0', 'He', '1', '1', '1'])
})

t.test('atoms without a place in space are no geometry', async t => {
  t.equal(geometryOf('<molecule><atomArray><atom elementType="H"/></atomArray></molecule>', 'x'), undefined)
  t.equal(geometryOf(molecule(atom('C', 'far')), 'x'), undefined)
  t.equal(geometryOf('<molecule>', 'x'), undefined)
  t.equal(geometryOf('', 'x'), undefined)
})

const scalars = (cell: Readonly<Record<string, number>>) =>
  Object.entries(cell)
    .map(([name, value]) => `<scalar title="${name}">${value}</scalar>`)
    .join('')
const inside = '<atom elementType="O" xFract="0.5" yFract="0.5" zFract="0.5"/>'

t.test('the fractions of a crystal become places in space by its cell', async t => {
  const crystal = (cell: Readonly<Record<string, number>>) =>
    words(
      geometryOf(
        `<molecule><crystal>${scalars(cell)}</crystal><atomArray>${inside}</atomArray></molecule>`,
        'x',
      ),
    )
  const cubic = { a: 4, b: 4, c: 4, alpha: 90, beta: 90, gamma: 90 }
  t.same(crystal(cubic), ['1', 'x', 'O', '2.00000000', '2.00000000', '2.00000000'])
  // A rhombohedral cell of edge 1 and 60°: half its diagonal is √6 / 2.
  const [x, y, z] = (crystal({ a: 1, b: 1, c: 1, alpha: 60, beta: 60, gamma: 60 }) ?? []).slice(3).map(Number)
  t.ok(Math.abs(Math.hypot(Number(x), Number(y), Number(z)) - Math.sqrt(6) / 2) < 1e-7)
  t.equal(crystal({ a: 4 }), undefined, 'a missing cell')
  t.equal(crystal({ ...cubic, alpha: 170, beta: 20, gamma: 20 }), undefined, 'angles that close no cell')
})
