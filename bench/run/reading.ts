// What each workload reads of the files, to tell what was fetched and never read.
import { pathsOf, type TreeFile } from '../trees/paths.js'
import { type TreeName, treeOf } from '../trees/trees.js'

/** Bytes of a file that the workload reads; `path` is without a slash at its beginning. */
type Reading = (path: string, size: number) => number

const nothing: Reading = () => 0
const whole: Reading = (_path, size) => size
const page: Reading = (_path, size) => Math.min(size, 4096)
const where =
  (isRead: (path: string) => boolean, reading: Reading = whole): Reading =>
  (path, size) =>
    isRead(path) ? reading(path, size) : 0

const isOutput = (path: string): boolean => path.endsWith('.out')
const isInFifth = (path: string): boolean => /^project-0[1-4]\//.test(path)

const readings: Readonly<Record<string, Reading>> = {
  cp: whole,
  'cp-reverse': whole,
  'cp-part': where(isInFifth),
  'md5-P1': where(isOutput),
  'md5-P8': where(isOutput),
  'md5-part-P1': where(path => isInFifth(path) && isOutput(path)),
  'md5-part-P8': where(path => isInFifth(path) && isOutput(path)),
  analysis: where(path => isInFifth(path) && isOutput(path)),
  grep: where(path => isInFifth(path) && /\.(out|log)$/.test(path)),
  folder: where(path => path.startsWith('project-02/calc-002/'), page),
  dd: where(path => path.endsWith('.trj')),
  readers8: where(path => path.endsWith('.trj')),
  head: where(path => path.endsWith('.trj'), page),
  tail: where(path => path.endsWith('.trj'), page),
}

/** Undefined where what is read is not known, as with pages at random places. */
const readingOf = (work: string): Reading | undefined =>
  /^(ls-|find$|stats$|walk-|os-walk$)/.test(work) ? nothing : readings[work]

/** Of each file: its path and size, by the key that the origin counts it under. */
const known = new Map<
  TreeName,
  (key: string) => { readonly path: string; readonly size: number } | undefined
>()

function filesOf(
  name: TreeName,
): (key: string) => { readonly path: string; readonly size: number } | undefined {
  const lookup = known.get(name) ?? lookupIn(name)
  known.set(name, lookup)
  return lookup
}

function lookupIn(name: TreeName): ReturnType<typeof filesOf> {
  const paths = pathsOf(treeOf(name))
  return key => {
    const [, id, file = ''] = /^(\d+)\/(.*)$/.exec(key) ?? []
    const calculation = paths.calculation(Number(id))
    if (calculation === undefined) return undefined
    const found: TreeFile | undefined = paths.file(calculation, file)
    const above: string[] = [calculation.name, file]
    for (let project = calculation.project; project.parent !== undefined; project = project.parent)
      above.unshift(project.name)
    return found && { path: above.join('/'), size: found.size }
  }
}

/** Bytes of contents that were sent, and how many of them the workload never reads. */
export function unread(
  contents: readonly (readonly [key: string, bytes: number])[],
  tree: TreeName,
  work: string,
): { readonly contentBytes?: number; readonly unreadBytes?: number } {
  const reading = readingOf(work)
  if (reading === undefined) return {}
  const fileOf = filesOf(tree)
  let contentBytes = 0
  let unreadBytes = 0
  for (const [key, bytes] of contents) {
    const file = fileOf(key)
    if (file === undefined) continue
    contentBytes += bytes
    // What is sent twice was read once at least, and is counted elsewhere.
    unreadBytes += Math.max(0, Math.min(bytes, file.size) - reading(file.path, file.size))
  }
  return { contentBytes, unreadBytes }
}
