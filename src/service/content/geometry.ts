// Generated files: CML as the sample has it to XYZ, the last molecule or crystal with coordinates, in ångström as both formats have them.
import { SaxesParser } from 'saxes'

type Attributes = Readonly<Record<string, string>>
type Coordinates = readonly [string | undefined, string | undefined, string | undefined]

/** As the CML has it, complete or not. */
interface Atom {
  readonly element: string | undefined
  readonly cartesian: Coordinates
  /** In fractions of the edges of a unit cell. */
  readonly fractions: Coordinates
}

/** An outermost molecule, with the atoms of all its parts. */
interface Molecule {
  readonly atoms: Atom[]
  /** The scalars of its `crystal` by name: a, b, c, alpha, beta, gamma. */
  readonly cell: Map<string, number>
}

/**
 * The last geometry of a CML file as an XYZ text; undefined if it holds none, is not well-formed, or does not say where each atom is.
 * Cartesian coordinates keep the digits of the CML (Chemical Markup Language, schema 3: `x3` in ångström, `xFract`
 * in fractions of the cell's edges).
 */
export function geometryOf(cml: Uint8Array, title: string): string | undefined {
  const last = molecules(new TextDecoder().decode(cml)).findLast(({ atoms }) => atoms.some(isPlaced))
  const lines = last === undefined ? undefined : linesOf(last)
  if (lines === undefined) return undefined
  return `${[lines.length, title.replace(/[\r\n\0]+/g, ' '), ...lines].join('\n')}\n`
}

/** In the order they end; none if the text is torn. */
function molecules(cml: string): Molecule[] {
  const parser = new SaxesParser()
  const found: Molecule[] = []
  let molecule: Molecule = { atoms: [], cell: new Map() }
  let depth = 0
  let inCrystal = false
  let scalar: { readonly name: string; text: string } | undefined
  let broken = false
  parser.on('error', () => {
    broken = true
  })
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'molecule') {
      if (depth === 0) molecule = { atoms: [], cell: new Map() }
      depth += 1
    } else if (name === 'crystal') inCrystal = true
    else if (name === 'scalar' && inCrystal) scalar = { name: attributes['title'] ?? '', text: '' }
    else if (name === 'atom') molecule.atoms.push(atomOf(attributes))
  })
  parser.on('text', text => {
    if (scalar !== undefined) scalar.text += text
  })
  parser.on('closetag', ({ name }) => {
    if (name === 'scalar' && scalar !== undefined) {
      if (isNumber(scalar.text)) molecule.cell.set(scalar.name, Number(scalar.text))
      scalar = undefined
    } else if (name === 'crystal') inCrystal = false
    else if (name === 'molecule') {
      depth -= 1
      if (depth === 0) found.push(molecule)
    }
  })
  parser.write(cml).close()
  return broken ? [] : found
}

const atomOf = ({ elementType, x3, y3, z3, xFract, yFract, zFract }: Attributes): Atom => ({
  element: elementType,
  cartesian: [x3, y3, z3],
  fractions: [xFract, yFract, zFract],
})

const isPlaced = ({ cartesian, fractions }: Atom): boolean =>
  [...cartesian, ...fractions].some(coordinate => coordinate !== undefined)

/** A decimal number as XML Schema writes it; no infinity. */
const isNumber = (text: string | undefined): text is string =>
  text !== undefined && /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text)

/** One line an atom, all of one kind of coordinates; undefined where one says no element or no place. */
function linesOf({ atoms, cell }: Molecule): readonly string[] | undefined {
  if (!atoms.every(({ element }) => /^\s*\S+\s*$/.test(element ?? ''))) return undefined
  const isCartesian = atoms.every(({ cartesian }) => cartesian.every(isNumber))
  const isFractional = atoms.every(({ fractions }) => fractions.every(isNumber))
  if (!isCartesian && !(isFractional && isCell(cell))) return undefined
  return atoms.map(({ element = '', cartesian, fractions }) => {
    const coordinates = isCartesian
      ? cartesian
      : place(cell, fractions.map(Number)).map(one => one.toFixed(8))
    return [element.trim().padEnd(2), ...coordinates.map(one => (one ?? '').trim().padStart(16))].join(' ')
  })
}

/** Lengths of the edges in ångström, angles between them in degrees: alpha lies between b and c, and so on. */
type Cell = ReadonlyMap<string, number>

/** False where a length or an angle is missing, or the angles close no cell. */
const isCell = (cell: Cell): boolean =>
  ['a', 'b', 'c'].every(edge => (cell.get(edge) ?? 0) > 0) && place(cell, [1, 1, 1]).every(Number.isFinite)

/** Where a point lies, in ångström; a runs along x and b lies in the plane of x and y, as is usual. */
function place(cell: Cell, [u = 0, v = 0, w = 0]: readonly number[]): readonly number[] {
  const [a = 0, b = 0, c = 0] = ['a', 'b', 'c'].map(edge => cell.get(edge))
  const [cosAlpha = 0, cosBeta = 0, cosGamma = 0] = ['alpha', 'beta', 'gamma'].map(angle =>
    Math.cos(((cell.get(angle) ?? Number.NaN) * Math.PI) / 180),
  )
  const sinGamma = Math.sqrt(1 - cosGamma ** 2)
  const cy = (cosAlpha - cosBeta * cosGamma) / sinGamma
  const cz = Math.sqrt(1 - cosBeta ** 2 - cy ** 2)
  return [a * u + b * cosGamma * v + c * cosBeta * w, b * sinGamma * v + c * cy * w, c * cz * w]
}
