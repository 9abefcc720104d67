// Trees of the benchmark: projects, calculations and files with their names, sizes and dates, all computed from numbers.
import { type Draw, drawFrom, seed } from './seed.js'

/** A file that every calculation of a project has. */
export interface FileForm {
  readonly name: string
  readonly form: 'text' | 'binary'
  /** Bytes at least, and how many more there may be. */
  readonly least: number
  readonly spread: number
}

export interface Project {
  /** 1 is the root. */
  readonly id: number
  /** '' for the root. */
  readonly name: string
  readonly parent: Project | undefined
  readonly projects: readonly Project[]
  /** Its calculations have the ids from `first` on; they are never objects, so that 100,000 of them cost nothing. */
  readonly first: number
  readonly count: number
  readonly files: readonly FileForm[]
  readonly naming: Naming
}

/** Names of calculations: with zeros before their numbers, without, or with a word drawn for each. */
export type Naming = 'padded' | 'plain' | 'drawn'

export interface Tree {
  readonly name: TreeName
  readonly root: Project
  /** Every project once, each parent before its children. */
  readonly projects: readonly Project[]
  readonly calculations: number
  /** Whether a calculation with a `.cml` also has `<its name>.xyz`; then all doors show it, with the same bytes. */
  readonly geometry: boolean
}

export const treeNames = ['lab', 'wide', 'deep', 'big', 'scale', 'small', 'unpadded', 'random'] as const
export type TreeName = (typeof treeNames)[number]

/** What a project is made of before it has numbers. */
interface Plan {
  readonly name: string
  readonly projects?: readonly Plan[]
  readonly calculations?: number
  readonly files?: readonly FileForm[]
  readonly naming?: Naming
}

const kibi = 1024
const text = (name: string, least: number, spread: number): FileForm => ({
  name,
  form: 'text',
  least,
  spread,
})
const binary = (name: string, least: number, spread: number): FileForm => ({
  name,
  form: 'binary',
  least,
  spread,
})

/** Six files, 560 KiB in the middle: 500 of them are 280 MB. */
const labFiles = [
  text('input.inp', kibi, 2 * kibi),
  text('output.out', 300 * kibi, 200 * kibi),
  text('output.cml', 30 * kibi, 20 * kibi),
  binary('orbitals.gbw', 64 * kibi, 64 * kibi),
  text('hessian.hess', 10 * kibi, 20 * kibi),
  text('run.log', kibi, 2 * kibi),
]
const tinyFiles = [text('input.inp', 300, 500), text('output.out', kibi, kibi), text('output.cml', 500, 1000)]
const trajectoryFiles = [
  text('input.inp', kibi, 0),
  text('trajectory.trj', 1024 * kibi * kibi, 0),
  text('output.cml', 30 * kibi, 0),
]
const smallFiles = [
  text('input.inp', 200, 400),
  text('output.out', 100 * kibi, 100 * kibi),
  text('output.cml', 2 * kibi, kibi),
  binary('orbitals.gbw', 200 * kibi, 200 * kibi),
]

const numbered = (word: string, count: number, make: (name: string, at: number) => Plan): readonly Plan[] =>
  Array.from({ length: count }, (_, at) => make(`${word}-${String(at + 1).padStart(2, '0')}`, at))

const plans: Readonly<Record<TreeName, () => Plan>> = {
  lab: () => top(numbered('project', 20, name => ({ name, calculations: 25, files: labFiles }))),
  wide: () => top([{ name: 'wide', calculations: 5000, files: tinyFiles }]),
  deep: () => top([levels(1, 12)]),
  big: () => top([{ name: 'dynamics', calculations: 1, files: trajectoryFiles }]),
  scale: () =>
    top([
      { name: 'huge', calculations: 50_000, files: tinyFiles },
      ...numbered('group', 10, name => ({
        name,
        projects: numbered('project', 10, inner => ({ name: inner, calculations: 500, files: tinyFiles })),
      })),
    ]),
  small: () =>
    top([
      ...numbered('project', 2, name => ({ name, calculations: 3, files: smallFiles })),
      { name: 'nested', projects: [{ name: 'inner', calculations: 2, files: smallFiles }] },
    ]),
  unpadded: () => top([{ name: 'series', calculations: 300, files: tinyFiles, naming: 'plain' }]),
  random: () => top(drawnProjects(drawFrom(seed), { depth: 0, left: { calculations: 400 } })),
}

const top = (projects: readonly Plan[]): Plan => ({ name: '', projects })

/** A chain: each level has three calculations, a project that ends there, and one that goes on. */
function levels(level: number, deepest: number): Plan {
  const name = `level-${String(level).padStart(2, '0')}`
  const here = { name, calculations: 3, files: tinyFiles }
  if (level === deepest) return here
  return {
    ...here,
    projects: [levels(level + 1, deepest), { name: 'aside', calculations: 3, files: tinyFiles }],
  }
}

const drawnWords = ['Alpha', 'beta', 'C6H6', 'TS', 'opt', 'Zn-cat', 'scan', 'water']

/** Two to nine projects a level, four levels at most, with up to sixty calculations each; all of it from the seed. */
function drawnProjects(
  draw: Draw,
  { depth, left }: { readonly depth: number; readonly left: { calculations: number } },
): readonly Plan[] {
  return Array.from({ length: draw(2, depth === 0 ? 9 : 4) }, (_, at): Plan => {
    const word = drawnWords[draw(0, drawnWords.length - 1)] ?? ''
    const calculations = Math.min(left.calculations, draw(0, 3) === 0 ? 0 : draw(1, 60))
    left.calculations -= calculations
    const forms = Array.from({ length: draw(1, 6) }, (_, file) =>
      text(
        `${['input.inp', 'output.out', 'output.cml', 'run.log', 'a.xyz', 'notes.txt'][file]}`,
        200,
        20_000,
      ),
    )
    return {
      name: `${word}-${at + 1}`,
      calculations,
      files: forms,
      naming: (['padded', 'plain', 'drawn'] as const)[draw(0, 2)] ?? 'plain',
      projects: depth < 3 && draw(0, 2) === 0 ? drawnProjects(draw, { depth: depth + 1, left }) : [],
    }
  })
}

/** The name of the calculation at this place of a project; it ends with its number, counted from one. */
export function calculationName({ count, first, naming }: Project, index: number): string {
  const number = String(index + 1)
  if (naming === 'plain') return `calc_${number}`
  if (naming === 'drawn') return `${drawnWords[drawFrom(first + index)(0, drawnWords.length - 1)]}_${number}`
  return `calc-${number.padStart(Math.max(3, String(count).length), '0')}`
}

/** The ids of calculations begin here, so that they differ visibly from those of projects. */
const firstCalculation = 10_000

/** The same tree for the same name, in every process. */
export function treeOf(name: TreeName, geometry = true): Tree {
  const projects: Project[] = []
  let next = firstCalculation
  const build = (plan: Plan, parent: Project | undefined): Project => {
    const below: Project[] = []
    const { calculations: count = 0, files = [], naming = 'padded' } = plan
    const project = {
      id: projects.length + 1,
      name: plan.name,
      parent,
      projects: below,
      first: next,
      count,
      files,
      naming,
    }
    projects.push(project)
    next += count
    for (const inner of plan.projects ?? []) below.push(build(inner, project))
    return project
  }
  const root = build(plans[name](), undefined)
  return { name, root, projects, calculations: next - firstCalculation, geometry }
}
