// Promises of the generated .xyz: which geometry of a CML it is, and that no digit changes.
import t from 'tap'
import { geometryOf as geometryOfBytes } from '../../src/service/content/geometry.js'

const geometryOf = (cml: string, title: string) => geometryOfBytes(Buffer.from(cml), title)

const words = (xyz: string | undefined) => xyz?.trim().split(/\s+/)

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
