// Trees drawn from a number: depth, fan-out, names with and without zeros, files; none of them was made for the foresight.
import type { Folder } from './simulated-link.js'

/** A share between 0 and 1, again and again; the same ones for the same seed. */
export function sharesFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const words = ['Alpha', 'beta', 'C6H6', 'ts', 'Opt', 'Zn-cat', 'scan_', 'Åse', 'über', '水', 'x']
const endings = ['.inp', '.out', '.cml', '.log', '.gbw', '']

/** A project with projects and calculations, up to four levels and some hundred folders. */
export function drawnTree(seed: number): Folder {
  const share = sharesFrom(seed)
  const draw = (least: number, most: number): number => least + Math.floor(share() * (most - least + 1))
  const drawnWord = (): string => words[draw(0, words.length - 1)] ?? ''
  let left = 400

  const namer = (): ((at: number) => string) => {
    const word = drawnWord()
    const way = draw(0, 3)
    if (way === 0) return at => `${word}${String(at).padStart(3, '0')}`
    if (way === 1) return at => `${word}_${at}`
    if (way === 2) return at => `${drawnWord()} ${at}`
    return at => `${String.fromCharCode(97 + draw(0, 25))}${Math.floor(share() * 1e6)}-${at}`
  }

  function calculation(name: string, forms: number): Folder {
    const files = Array.from({ length: forms }, (_, at) => ({
      name: `file${at}${endings[at % endings.length]}`,
      bytes: draw(0, 200_000),
    }))
    return { name, folders: [], files, kind: 'calculation' }
  }

  function project(name: string, depth: number): Folder {
    const named = namer()
    const forms = draw(0, 6)
    const count = Math.min(left, draw(0, 4) === 0 ? 0 : draw(1, 80))
    left -= count
    const calculations = Array.from({ length: count }, (_, at) => calculation(named(at + 1), forms))
    const below = namer()
    const projects = Array.from({ length: depth >= 3 ? 0 : draw(0, depth === 0 ? 8 : 3) }, (_, at) =>
      project(`p ${below(at + 1)}`, depth + 1),
    )
    return { name, folders: [...projects, ...calculations], files: [], kind: 'project' }
  }

  return project('projects', 0)
}

export const foldersIn = ({ folders }: Folder): number =>
  folders.reduce((count, below) => count + 1 + foldersIn(below), 0)
