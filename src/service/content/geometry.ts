// CML to XYZ: the last molecule or crystal with coordinates, in ångström as both formats have them.
import { SaxesParser } from 'saxes'
import { type Cell, cellFrom, place } from './unit-cell.js'

interface Atom {
  readonly element: string
  /** Coordinates as the CML writes them. */
  readonly at: readonly [string, string, string]
  /** `fractions` of the edges of a unit cell, else ångström. */
  readonly fractions: boolean
}

/** A molecule as far as it was read. */
interface Molecule {
  readonly atoms: Atom[]
  /** The scalars of its `crystal`: a, b, c, alpha, beta, gamma. */
  readonly cell: Map<string, number>
}

/**
 * The last geometry of a CML text as an XYZ text; undefined if it holds none or is not well-formed.
 * Cartesian coordinates keep the digits of the CML (Chemical Markup Language, schema 3: `x3` in ångström, `xFract`
 * in fractions of the cell's edges).
 */
export function geometryOf(cml: string, title: string): string | undefined {
  for (const molecule of molecules(cml).reverse()) {
    const lines = linesOf(molecule)
    if (lines === undefined) continue
    return `${[lines.length, title.replace(/[\r\n\0]+/g, ' '), ...lines].join('\n')}\n`
  }
  return undefined
}

/** The molecules with atoms in the order they end; none if the text is torn. */
function molecules(cml: string): Molecule[] {
  const parser = new SaxesParser()
  const found: Molecule[] = []
  let molecule: Molecule = { atoms: [], cell: new Map() }
  let inCrystal = false
  let scalar: string | undefined
  let broken = false
  parser.on('error', () => {
    broken = true
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = localName(name)
    if (element === 'molecule') molecule = { atoms: [], cell: new Map() }
    if (element === 'crystal') inCrystal = true
    if (element === 'scalar' && inCrystal) scalar = attributes['title']
    if (element === 'atomArray') molecule.atoms.push(...atomsInArray(attributes))
    if (element === 'atom') molecule.atoms.push(...atomOf(attributes))
  })
  parser.on('text', text => {
    if (scalar !== undefined) molecule.cell.set(scalar, Number(text))
    scalar = undefined
  })
  parser.on('closetag', ({ name }) => {
    const element = localName(name)
    if (element === 'crystal') inCrystal = false
    if (element === 'molecule' && molecule.atoms.length > 0) found.push(molecule)
  })
  parser.write(cml).close()
  return broken ? [] : found
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

type Attributes = Readonly<Record<string, string>>

function atomOf({ elementType, x3, y3, z3, xFract, yFract, zFract }: Attributes): readonly Atom[] {
  const cartesian = atom(elementType, [x3, y3, z3], false)
  return cartesian.length > 0 ? cartesian : atom(elementType, [xFract, yFract, zFract], true)
}

/** The short form: one attribute a column, its values apart by blanks. */
function atomsInArray({ elementType, x3, y3, z3 }: Attributes): readonly Atom[] {
  if (elementType === undefined || x3 === undefined || y3 === undefined || z3 === undefined) return []
  const [xs, ys, zs] = [words(x3), words(y3), words(z3)]
  return words(elementType).flatMap((element, index) =>
    atom(element, [xs[index], ys[index], zs[index]], false),
  )
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

function atom(
  element: string | undefined,
  [x, y, z]: readonly (string | undefined)[],
  fractions: boolean,
): readonly Atom[] {
  if (element === undefined || !isNumber(x) || !isNumber(y) || !isNumber(z)) return []
  return [{ element, at: [x, y, z], fractions }]
}

const isNumber = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== '' && Number.isFinite(Number(text))

/** One line an atom; undefined for fractions without a cell. */
function linesOf({ atoms, cell: scalars }: Molecule): readonly string[] | undefined {
  const cell = cellFrom(scalars)
  const lines: string[] = []
  for (const { element, at, fractions } of atoms) {
    const coordinates = fractions ? inSpace(cell, at) : at
    if (coordinates === undefined) return undefined
    lines.push([element.padEnd(2), ...coordinates.map(coordinate => coordinate.padStart(16))].join(' '))
  }
  return lines
}

function inSpace(cell: Cell | undefined, [u, v, w]: Atom['at']): readonly string[] | undefined {
  if (cell === undefined) return undefined
  return place(cell, [Number(u), Number(v), Number(w)]).map(coordinate => coordinate.toFixed(8))
}
