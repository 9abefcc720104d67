// Nodes of the pass-through: every one made once, on its first request, and kept.
import type { Stat } from 'fuse-native'
import { mixed, period, type Source } from '../trees/bytes.js'
import { type Entry, modifiedOf, type Place, pathsOf } from '../trees/paths.js'
import type { Tree } from '../trees/trees.js'

export interface MemoryNode {
  readonly stat: Stat
  /** The bytes of a file; undefined for a directory. */
  readonly source: Source | undefined
  /** The entries of a directory, `.` and `..` included, with stats that state their types. */
  readonly inside: (() => { readonly names: string[]; readonly stats: Stat[] }) | undefined
}

export interface Nodes {
  at(path: string): MemoryNode | undefined
}

/** The tree; with `records` also the names that calcfs adds, so that a copy copies as many. */
export function treeNodes(tree: Tree, records: boolean): Nodes {
  const paths = pathsOf(tree)
  const known = new Map<string, MemoryNode | undefined>()

  function make(path: string): MemoryNode | undefined {
    const record = records ? recordAt(path) : undefined
    if (record !== undefined) return record
    const place = paths.at(path)
    if (place === undefined) return undefined
    if (place.kind === 'file') return file(place.file, modifiedOf(place.file.calculation))
    return directory(modifiedIn(place), () => [
      ...(records ? (place.kind === 'project' ? projectRecords : calculationRecords) : []),
      ...(paths.entries(place) ?? []),
    ])
  }

  function recordAt(path: string): MemoryNode | undefined {
    const [, above = '', name] = /^(.*)\/(\.[^/]+)$/.exec(path) ?? []
    const place = name === undefined ? undefined : paths.at(above)
    if (place === undefined || place.kind === 'file') return undefined
    const records = place.kind === 'project' ? projectRecords : calculationRecords
    const entry = records.find(record => record.name === name)
    if (entry === undefined) return undefined
    const modified = modifiedIn(place)
    if (entry.size === undefined) return directory(modified, () => [])
    return file({ form: 'text', size: entry.size, start: mixed(modified / 60_000, 3) % period }, modified)
  }

  return {
    at(path) {
      if (known.has(path)) return known.get(path)
      const node = make(path)
      known.set(path, node)
      return node
    },
  }
}

/** An empty file system, but for so many empty files. */
export function emptyNodes(count: number): Nodes {
  const entries = Array.from({ length: count }, (_, at) => ({
    name: `entry-${String(at + 1).padStart(5, '0')}`,
    size: 0,
    modified: 0,
  }))
  const known = new Map(
    entries.map(({ name }) => [`/${name}`, file({ form: 'text', size: 0, start: 0 }, modifiedOf(1))]),
  )
  known.set(
    '/',
    directory(modifiedOf(1), () => entries),
  )
  return { at: path => known.get(path) }
}

/** As large as those of calcfs; their contents do not matter. */
const projectRecords: readonly Entry[] = [
  { name: '.project.json', size: 250, modified: 0 },
  { name: '.index.tsv', size: 3000, modified: 0 },
  { name: '.shares', size: undefined, modified: 0 },
]
const calculationRecords: readonly Entry[] = [{ name: '.calculation.json', size: 330, modified: 0 }]

const modifiedIn = (place: Exclude<Place, { kind: 'file' }>): number =>
  modifiedOf(place.kind === 'project' ? place.project.id : place.calculation.id)

const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
const modes = { directory: 0o040555, file: 0o100444 } // S_IFDIR, S_IFREG of inode(7)
const blockBytes = 512

const statOf = (mode: number, size: number, modified: number): Stat => ({
  ...owner,
  mode,
  size,
  nlink: 1,
  blocks: Math.ceil(size / blockBytes),
  blksize: 131_072,
  mtime: modified,
  atime: modified,
  ctime: modified,
})

const file = (source: Source, modified: number): MemoryNode => ({
  stat: statOf(modes.file, source.size, modified),
  source,
  inside: undefined,
})

/** Its list is made on the first request, and kept. */
function directory(modified: number, entries: () => readonly Entry[]): MemoryNode {
  let list: { names: string[]; stats: Stat[] } | undefined
  return {
    stat: statOf(modes.directory, 4096, modified),
    source: undefined,
    inside() {
      list ??= listOf(entries())
      return list
    },
  }
}

function listOf(entries: readonly Entry[]): { names: string[]; stats: Stat[] } {
  const kinds = [modes.directory, modes.directory, ...entries.map(kindOf)]
  return {
    names: ['.', '..', ...entries.map(({ name }) => name)],
    stats: kinds.map(mode => statOf(mode, 0, 0)),
  }
}

const kindOf = ({ size }: Entry): number => (size === undefined ? modes.directory : modes.file)
