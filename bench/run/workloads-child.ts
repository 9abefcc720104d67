// Reading programs of the workloads, each in a process of its own: they time themselves and print what they saw.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { drawFrom } from '../trees/seed.js'

const pageBytes = 4096

/** Paths of files below a directory, in the order of their names, without what begins with a dot. */
function* filesBelow(directory: string): Generator<string> {
  const entries = readdirSync(directory, { withFileTypes: true }).filter(
    ({ name }) => !/^(\.|lost\+found$)/.test(name),
  )
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else yield path
  }
}

/** Opens, reads, closes each output and adds up its energies, as a script over many calculations does. */
function analysis(projects: readonly string[]): string {
  let energies = 0
  let sum = 0
  for (const project of projects) {
    for (const path of filesBelow(project)) {
      if (!path.endsWith('.out')) continue
      for (const [, energy] of readFileSync(path, 'latin1').matchAll(/^FINAL SINGLE POINT ENERGY +(\S+)/gm)) {
        energies += 1
        sum += Number(energy)
      }
    }
  }
  return `${energies} energies, ${sum.toFixed(3)}`
}

/** Lists a folder, stats each entry, and reads the beginning of each file to find its type. */
function folder([directory = '.']: readonly string[]): string {
  const names = readdirSync(directory).filter(name => !name.startsWith('.'))
  const hash = createHash('md5')
  for (const name of names.sort()) {
    const { size } = statSync(join(directory, name))
    hash.update(`${name} ${size}\n`)
  }
  for (const name of names) hash.update(readAt(join(directory, name), () => 0))
  return `${names.length} names, ${hash.digest('hex')}`
}

/** Up to 4 KiB of a file, at a place that depends on its size. */
function readAt(path: string, place: (size: number) => number): Buffer {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(pageBytes)
    const count = readSync(file, buffer, 0, pageBytes, place(fstatSync(file).size))
    return buffer.subarray(0, count)
  } finally {
    closeSync(file)
  }
}

/** Reads pages all over a file, at the same places in every run. */
function random([path = '', count = '0']: readonly string[]): string {
  const hash = createHash('md5')
  let seed = 20261121
  for (let at = 0; at < Number(count); at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    const share = seed / 2 ** 32
    hash.update(readAt(path, size => Math.floor((share * size) / pageBytes) * pageBytes))
  }
  return hash.digest('hex')
}

/** Stats so many files; finding their names is no part of the time. */
function stats([count = '0']: readonly string[]): () => string {
  const paths: string[] = []
  for (const path of filesBelow('.')) if (paths.push(path) >= Number(count)) break
  const sum = (files: readonly string[]): number =>
    files.reduce((bytes, path) => bytes + statSync(path).size, 0)
  // The engine compiles the loop on a file of its own, else the time says more of that than of the mount.
  for (let turn = 0; turn < 5; turn++) sum(paths.map(() => process.argv[1] ?? ''))
  return () => `${paths.length} files, ${sum(paths)} bytes`
}

/** Lists each folder and stats its files; the order is the walk's own, the result is not. */
function walk([order = '', seed = '']: readonly string[]): string {
  const draw = drawFrom(Number(seed))
  const { compare } = new Intl.Collator('en')
  const sizes: string[] = []
  const folders: string[] = []
  const entries = (directory: string) => {
    const all = readdirSync(directory, { withFileTypes: true })
    return all.filter(({ name }) => !/^(\.|lost\+found$)/.test(name))
  }
  const ordered = (names: string[]): string[] =>
    order === 'locale' ? names.sort(compare) : shuffled(names, draw)
  const enter = (directory: string): void => {
    const here = entries(directory)
    const below = ordered(here.filter(entry => entry.isDirectory()).map(({ name }) => name))
    for (const entry of here) {
      if (entry.isFile())
        sizes.push(`${directory}/${entry.name} ${statSync(join(directory, entry.name)).size}`)
    }
    if (order === 'scattered') folders.push(...below.map(name => join(directory, name)))
    else for (const name of below) enter(join(directory, name))
  }
  enter('.')
  // Scattered: what is known so far in any order, whatever it lies in.
  while (folders.length > 0) for (const directory of shuffled(folders.splice(0), draw)) enter(directory)
  return `${sizes.length} files, ${createHash('md5')
    .update(
      sizes
        .map(line => line.replace(/^\.\//, ''))
        .sort()
        .join('\n'),
    )
    .digest('hex')}`
}

function shuffled(names: string[], draw: (least: number, most: number) => number): string[] {
  for (let at = names.length - 1; at > 0; at--) {
    const other = draw(0, at)
    const [one = '', two = ''] = [names[at], names[other]]
    names[at] = two
    names[other] = one
  }
  return names
}

function work([name, ...words]: readonly string[]): () => string {
  switch (name) {
    case 'analysis':
      return () => analysis(words)
    case 'folder':
      return () => folder(words)
    case 'random':
      return () => random(words)
    case 'stats':
      return stats(words)
    case 'walk':
      return () => walk(words)
    default:
      throw new Error(`there is no reading program ${name}`)
  }
}

const run = work(process.argv.slice(2))
const began = process.hrtime.bigint()
const result = run()
console.log(JSON.stringify({ seconds: Number(process.hrtime.bigint() - began) / 1e9, result }))
