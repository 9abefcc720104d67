// Promises of the generated .xyz: which geometry of a CML it is, and that no digit changes.
import t from 'tap'
import { geometryOf } from '../../src/service/geometry.js'

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
