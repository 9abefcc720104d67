// The entries of a tree that a command means: names, paths and types as find(1) takes them, what a copy includes and leaves out.
import { Minimatch } from 'minimatch'
import type { EntryType, TreeFilter } from '../interface/reader.js'

export interface FilteredName {
  readonly name: string
  readonly path: string
  /** Below the tree's top, without a leading slash; empty for the top itself. */
  readonly below: string
  readonly type: EntryType
  readonly kind: string
}

/** As fnmatch(3): no braces, no `!` or `#` in front, nothing beyond `*`, `?` and `[…]`. */
const asFnmatch = { dot: true, nobrace: true, noext: true, nonegate: true, nocomment: true } as const

/** For names, and for paths below the top: `**` takes any number of directories. */
const ofNames = { ...asFnmatch, platform: 'linux' } as const

/** A path of find(1) is one text: `*` takes slashes, too. */
const slashStandIn = '\u0001'

export function compiledFilter(filter: TreeFilter) {
  const names = (filter.names ?? []).map(pattern => matcher(pattern, ofNames))
  const loose = (filter.namesOfAnyCase ?? []).map(pattern => matcher(pattern, { ...ofNames, nocase: true }))
  const paths = (filter.paths ?? []).map(pattern => matcher(asOneName(pattern), ofNames))
  const { types } = filter
  const include = filter.include?.map(patternBelow)
  const exclude = filter.exclude?.map(patternBelow) ?? []

  return {
    /** It is no part of the tree, nor is what lies in it. */
    leavesOut: (entry: FilteredName): boolean =>
      entry.below !== '' && exclude.some(matches => matches(entry)),
    /** It is shown; what lies in a directory that is not may be shown all the same. */
    means(entry: FilteredName): boolean {
      const { name, path, type, kind } = entry
      const isOf = (wanted: string): boolean => wanted === type || (type === 'directory' && wanted === kind)
      if (types !== undefined && !types.some(isOf)) return false
      if (include !== undefined && type !== 'directory' && !include.some(matches => matches(entry)))
        return false
      return (
        names.every(matches => matches(name)) &&
        loose.every(matches => matches(name)) &&
        paths.every(matches => matches(asOneName(path)))
      )
    },
  }
}

export type CompiledFilter = ReturnType<typeof compiledFilter>

function matcher(pattern: string, options: typeof ofNames & { nocase?: boolean }): (text: string) => boolean {
  const compiled = new Minimatch(pattern, options)
  return text => compiled.match(text)
}

/** As rsync and rclone have it: with a slash the path below the top is meant, else the last name. */
function patternBelow(pattern: string): (entry: FilteredName) => boolean {
  const plain = pattern.replace(/^\/|\/$/g, '')
  const matches = matcher(plain, ofNames)
  const isName = !plain.includes('/') && !pattern.startsWith('/')
  return ({ name, below }) => matches(isName ? name : below)
}

const asOneName = (path: string): string => path.replaceAll('/', slashStandIn)
