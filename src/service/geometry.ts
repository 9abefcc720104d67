// CML to XYZ: the last molecule with coordinates, in ångström as both formats have them.
import { SaxesParser, type SaxesTagPlain } from 'saxes'

interface Atom {
  readonly element: string
  readonly place: readonly [string, string, string]
}

/**
 * The last geometry of a CML text as an XYZ text; undefined if it holds none or is not well-formed.
 * Coordinates keep the digits of the CML (its `x3`, `y3`, `z3` are in ångström: Chemical Markup Language, schema 3).
 */
export function geometryOf(cml: string, title: string): string | undefined {
  const atoms = lastAtoms(cml)
  if (atoms === undefined) return undefined
  const lines = atoms.map(({ element, place }) => [element.padEnd(2), ...place.map(pad)].join(' '))
  return `${[atoms.length, title.replace(/[\r\n\0]+/g, ' '), ...lines].join('\n')}\n`
}

const pad = (coordinate: string): string => coordinate.padStart(16)

function lastAtoms(cml: string): readonly Atom[] | undefined {
  const parser = new SaxesParser()
  let found: Atom[] | undefined
  let molecule: Atom[] = []
  let broken = false
  parser.on('error', () => {
    broken = true
  })
  parser.on('opentag', tag => {
    const name = localName(tag.name)
    if (name === 'molecule') molecule = []
    if (name === 'atomArray') molecule.push(...atomsInArray(tag))
    if (name === 'atom') molecule.push(...atomOf(tag))
  })
  parser.on('closetag', tag => {
    if (localName(tag.name) !== 'molecule') return
    if (molecule.length > 0) found = molecule
    molecule = []
  })
  parser.write(cml).close()
  return broken ? undefined : found
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

function atomOf({ attributes }: SaxesTagPlain): readonly Atom[] {
  const { elementType, x3, y3, z3 } = attributes
  return atom(elementType, [x3, y3, z3])
}

/** The short form: one attribute a column, its values apart by blanks. */
function atomsInArray({ attributes }: SaxesTagPlain): readonly Atom[] {
  const { elementType, x3, y3, z3 } = attributes
  if (elementType === undefined || x3 === undefined || y3 === undefined || z3 === undefined) return []
  const [xs, ys, zs] = [words(x3), words(y3), words(z3)]
  return words(elementType).flatMap((element, index) => atom(element, [xs[index], ys[index], zs[index]]))
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

function atom(element: string | undefined, place: readonly (string | undefined)[]): readonly Atom[] {
  const [x, y, z] = place
  if (element === undefined || !isNumber(x) || !isNumber(y) || !isNumber(z)) return []
  return [{ element, place: [x, y, z] }]
}

const isNumber = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== '' && Number.isFinite(Number(text))
