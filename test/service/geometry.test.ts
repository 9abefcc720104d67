// Promises of the generated .xyz: which geometry of a CML it is, and that no digit changes.
import t from 'tap'
import { geometryOf as geometryOfBytes } from '../../src/service/content/geometry.js'
import { drawnFrom } from '../testbed/variants.js'

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

t.test(
  'a drawn molecule is read whole in each encoding and form, and one with a flaw not at all',
  async t => {
    const { seed, draw } = drawnFrom()
    const cell = { a: 4, b: 5, c: 10, alpha: 90, beta: 90, gamma: 90 }
    for (let round = 0; round < 200; round += 1) {
      const what = `seed ${seed}, round ${round}`
      const isCrystal = draw(2) === 0
      const names = isCrystal ? ['xFract', 'yFract', 'zFract'] : ['x3', 'y3', 'z3']
      const rows = Array.from({ length: 1 + draw(6) }, () => [
        ['H', 'C', 'O', 'Cl'][draw(4)] ?? '',
        ...names.map(() => ((draw(2000) - 1000) / 1000).toFixed(3)),
      ])
      const flawed = draw(3) === 0 ? draw(rows.length) : -1
      const gone = flawed < 0 ? -1 : draw(4)
      const columns = ['elementType', ...names]
      const text =
        draw(2) === 0
          ? `<c:atomArray ${columns.map((name, at) => `${name}="${rows.flatMap((row, place) => (place === flawed && at === gone ? [] : [row[at]])).join(' ')}"`).join(' ')}/>`
          : `<c:atomArray>${rows.map((row, place) => `<c:atom ${columns.map((name, at) => (place === flawed && at === gone ? '' : `${name}="${row[at]}"`)).join(' ')}/>`).join('')}</c:atomArray>`
      const crystal = isCrystal
        ? `<c:crystal>${scalars(cell).replaceAll('scalar', 'c:scalar')}</c:crystal>`
        : ''
      const cml = `<?xml version="1.0"?><c:molecule xmlns:c="x">${crystal}${text}</c:molecule>`
      const made = geometryOfBytes(Buffer.from(cml), 'x')
      // A column of one atom that lacks its value has an empty one, or the whole attribute is empty.
      if (flawed >= 0) t.equal(made, undefined, `${what}: ${cml}`)
      else {
        const edges = isCrystal ? [cell.a, cell.b, cell.c] : [1, 1, 1]
        const expected = rows.map(([element, ...at]) => [
          element,
          ...at.map((one, axis) => Number(one) * (edges[axis] ?? 1)),
        ])
        const lines = made
          ?.trimEnd()
          .split('\n')
          .slice(2)
          .map(line => line.trim().split(/\s+/))
        t.same(
          lines?.map(([element, ...at]) => [element, ...at.map(one => Number(Number(one).toFixed(6)))]),
          expected.map(([element, ...at]) => [element, ...at.map(one => Number(Number(one).toFixed(6)))]),
          `${what}: ${cml}`,
        )
      }
    }
  },
)
