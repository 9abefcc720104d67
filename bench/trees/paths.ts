// Lookup in a tree: entries by path, entries of a directory, bytes of a file; the same for every door.

import { mixed, period, type Source } from './bytes.js'
import { calculationName, type FileForm, type Project, type Tree } from './trees.js'

export interface Calculation {
  readonly id: number
  readonly name: string
  readonly project: Project
}

/** A file of a calculation, or its generated geometry. */
export interface TreeFile extends Source {
  readonly name: string
  readonly kind: 'file' | 'xyz'
  readonly calculation: number
}

export type Place =
  | { readonly kind: 'project'; readonly project: Project }
  | { readonly kind: 'calculation'; readonly calculation: Calculation }
  | { readonly kind: 'file'; readonly file: TreeFile }

export interface Entry {
  readonly name: string
  /** Bytes; undefined for a directory. */
  readonly size: number | undefined
  /** Milliseconds since 1970, whole minutes, because an nginx listing tells no seconds. */
  readonly modified: number
}

const aMinute = 60_000
const begin = Date.UTC(2026, 0, 5, 8)

/** When a project or calculation was changed last; its files are as old as it is. Milliseconds since 1970. */
export const modifiedOf = (id: number): number => begin + id * aMinute

/** Looks things up in one tree. */
export interface Paths {
  /** `path` starts with a slash and has none at its end, but for the root. */
  at(path: string): Place | undefined
  /** Of a directory; undefined for a file. */
  entries(place: Place): readonly Entry[] | undefined
  project(id: number): Project | undefined
  calculation(id: number): Calculation | undefined
  calculationAt(project: Project, index: number): Calculation
  files(calculation: Calculation): readonly TreeFile[]
  /** Undefined where the tree has no geometries, or this calculation no CML. */
  geometry(calculation: Calculation): TreeFile | undefined
  /** The file of this name, the geometry's too. */
  file(calculation: Calculation, name: string): TreeFile | undefined
}

export function pathsOf(tree: Tree): Paths {
  const holders = tree.projects.filter(project => project.count > 0)
  const inside = new Map(
    tree.projects.map(project => [project, new Map(project.projects.map(below => [below.name, below]))]),
  )

  function at(path: string): Place | undefined {
    let project = tree.root
    const names = path.split('/').filter(name => name !== '')
    for (const [depth, name] of names.entries()) {
      const below = inside.get(project)?.get(name)
      if (below === undefined) return belowCalculation(project, names.slice(depth))
      project = below
    }
    return { kind: 'project', project }
  }

  function belowCalculation(project: Project, [name = '', ...rest]: readonly string[]): Place | undefined {
    const number = /(\d+)$/.exec(name)?.[1]
    const index = number === undefined ? -1 : Number(number) - 1
    if (index < 0 || index >= project.count) return undefined
    const found = calculationAt(project, index)
    if (found.name !== name || rest.length > 1) return undefined
    const [fileName] = rest
    if (fileName === undefined) return { kind: 'calculation', calculation: found }
    const wanted = file(found, fileName)
    return wanted && { kind: 'file', file: wanted }
  }

  /** The last project whose first id is not above this one. */
  function calculation(id: number): Calculation | undefined {
    let low = 0
    let high = holders.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const holder = holders[middle]
      if (holder === undefined) return undefined
      if (id < holder.first) high = middle - 1
      else if (id >= holder.first + holder.count) low = middle + 1
      else return calculationAt(holder, id - holder.first)
    }
    return undefined
  }

  function calculationAt(project: Project, index: number): Calculation {
    return { id: project.first + index, name: calculationName(project, index), project }
  }

  const files = ({ id, project }: Calculation): readonly TreeFile[] =>
    project.files.map((form, place) => fileOf(form, id, place))

  function geometry({ id, name, project }: Calculation): TreeFile | undefined {
    if (!tree.geometry || !project.files.some(form => form.name.endsWith('.cml'))) return undefined
    return { ...fileOf(geometryForm, id, project.files.length), name: `${name}.xyz`, kind: 'xyz' }
  }

  function file(of: Calculation, name: string): TreeFile | undefined {
    const place = of.project.files.findIndex(form => form.name === name)
    const form = of.project.files[place]
    if (form !== undefined) return fileOf(form, of.id, place)
    return name === `${of.name}.xyz` ? geometry(of) : undefined
  }

  function entries(place: Place): readonly Entry[] | undefined {
    switch (place.kind) {
      case 'file':
        return undefined
      case 'calculation':
        return [...files(place.calculation), ...[geometry(place.calculation)].filter(it => it !== undefined)]
          .map(({ name, size }) => ({ name, size, modified: modifiedOf(place.calculation.id) }))
          .sort((one, other) => (one.name < other.name ? -1 : 1))
      case 'project':
        return childrenOf(place.project)
    }
  }

  function childrenOf(project: Project): readonly Entry[] {
    const directory = ({ name, id }: { name: string; id: number }): Entry => ({
      name,
      size: undefined,
      modified: modifiedOf(id),
    })
    const calculations = Array.from({ length: project.count }, (_, index) => calculationAt(project, index))
    return [...project.projects.map(directory), ...calculations.map(directory)]
  }

  return {
    at,
    entries,
    project: id => tree.projects[id - 1],
    calculation,
    calculationAt,
    files,
    geometry,
    file,
  }
}

const geometryForm: FileForm = { name: '', form: 'text', least: 1000, spread: 2000 }

function fileOf(form: FileForm, calculation: number, place: number): TreeFile {
  const chance = mixed(calculation, place)
  return {
    name: form.name,
    kind: 'file',
    calculation,
    form: form.form,
    size: form.least + (form.spread === 0 ? 0 : chance % form.spread),
    start: mixed(chance, 11) % period,
  }
}
