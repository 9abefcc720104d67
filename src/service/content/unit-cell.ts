// Unit cell of a crystal: converts fractions of its edges to Cartesian coordinates.

/** Lengths of the edges in ångström, angles between them in degrees: alpha lies between b and c, and so on. */
export interface Cell {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly alpha: number
  readonly beta: number
  readonly gamma: number
}
export type Place = readonly [number, number, number]

/** The cell in named values; undefined if one is missing or the angles close no cell. */
export function cellFrom(values: ReadonlyMap<string, number>): Cell | undefined {
  const [a, b, c] = [values.get('a'), values.get('b'), values.get('c')]
  const [alpha, beta, gamma] = [values.get('alpha'), values.get('beta'), values.get('gamma')]
  if (a === undefined || b === undefined || c === undefined) return undefined
  if (alpha === undefined || beta === undefined || gamma === undefined) return undefined
  if (!(Math.min(a, b, c) > 0)) return undefined
  const cell = { a, b, c, alpha, beta, gamma }
  return place(cell, [1, 1, 1]).every(Number.isFinite) ? cell : undefined
}

const cosine = (degrees: number): number => Math.cos((degrees * Math.PI) / 180)

/** Where a point lies, in ångström; a runs along x and b lies in the plane of x and y, as is usual. */
export function place(cell: Cell, [u, v, w]: Place): Place {
  const [cosAlpha, cosBeta, cosGamma] = [cosine(cell.alpha), cosine(cell.beta), cosine(cell.gamma)]
  const sinGamma = Math.sqrt(1 - cosGamma ** 2)
  const cy = (cosAlpha - cosBeta * cosGamma) / sinGamma
  const cz = Math.sqrt(1 - cosBeta ** 2 - cy ** 2)
  return [
    cell.a * u + cell.b * cosGamma * v + cell.c * cosBeta * w,
    cell.b * sinGamma * v + cell.c * cy * w,
    cell.c * cz * w,
  ]
}
