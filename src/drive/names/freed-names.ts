// Freed names: a name that becomes free stays closed to its siblings for an hour, so that a path used twice never means two things.
import { LRUCache } from 'lru-cache'
import { type Instant, instant } from '../../remote/remote.js'
import { escapeTitle, type NamedChild, nameChildren, splitMark } from '../nodes/name.js'

export interface GivenNames {
  /** In the order of the children. */
  readonly names: readonly string[]
  /** When a name that is withheld now may be given; undefined where none is. */
  readonly until: Instant | undefined
}

export interface FreedNames {
  /** The names of `nameChildren`, but for names that have become free; `directory` tells one project from another. */
  name(directory: string, children: readonly NamedChild[]): GivenNames
}

/**
 * Several children of one title: which one has the bare name ('' for none), then which ones have marked names for that
 * reason, all in one text: a listing may have a hundred thousand such names, and each is remembered.
 */
type NameContest = string

interface FreedName {
  /** Whose name it was, and the siblings that stood there when it became free. */
  readonly contest: NameContest
  readonly until: Instant
}

interface DirectoryNames {
  readonly contests: ReadonlyMap<string, NameContest>
  readonly freed: Map<string, FreedName>
}

/** Milliseconds for which a script that goes through old names, or a person at a shell, may still use one. */
const withheldMs = 3_600_000
const directoriesAtMost = 4096
/** What all of them together may take; the one that was named longest ago is forgotten first. */
const bytesAtMost = 32 << 20
/** What a name takes beside its own text and that of its contest. */
const bytesOfName = 80

export function openFreedNames(now: () => Instant): FreedNames {
  const directories = new LRUCache<string, DirectoryNames>({
    max: directoriesAtMost,
    maxSize: bytesAtMost,
    sizeCalculation: heldBytes,
  })

  /** What earlier names withhold from the children that are listed now. */
  function freedIn(earlier: DirectoryNames, children: readonly NamedChild[]): Map<string, FreedName> {
    const freed = new Map([...earlier.freed].filter(([, { until }]) => until > now()))
    const ownersLeft = new Set([...earlier.contests.values()].map(ownerIn))
    const titles = new Map<string, string>()
    for (const child of children)
      if (ownersLeft.has(childKey(child))) titles.set(childKey(child), escapeTitle(child.title))
    for (const [name, contest] of earlier.contests)
      if (ownerIn(contest) !== '' && titles.get(ownerIn(contest)) !== name)
        freed.set(name, { contest, until: instant(now() + withheldMs) })
    return freed
  }

  return {
    name(directory, children) {
      const earlier = directories.get(directory)
      const freed = earlier === undefined ? new Map<string, FreedName>() : freedIn(earlier, children)
      const names = nameChildren(children, isWithheldBy(freed))
      const contests = contestsIn(children, names)
      if (contests.size === 0 && freed.size === 0) directories.delete(directory)
      else directories.set(directory, { contests, freed })
      const ends = [...freed.values()].map(({ until }) => until)
      return { names, until: ends.length === 0 ? undefined : instant(Math.min(...ends)) }
    },
  }
}

const childKey = ({ kind, id }: NamedChild): string => `${kind === 'project' ? 'p' : 'c'}${id}`

const ownerIn = (contest: NameContest): string => contest.slice(0, contest.indexOf(' '))

function isWithheldBy(freed: ReadonlyMap<string, FreedName>): (child: NamedChild, name: string) => boolean {
  const others = new Map<string, ReadonlySet<string>>()
  return (child, name) => {
    const contest = freed.get(name)?.contest
    if (contest === undefined) return false
    const from = others.get(name) ?? new Set(contest.split(' ').slice(1))
    others.set(name, from)
    return from.has(childKey(child))
  }
}

function heldBytes({ contests, freed }: DirectoryNames): number {
  let bytes = bytesOfName
  for (const [name, contest] of contests) bytes += bytesOfName + name.length + contest.length
  for (const [name, { contest }] of freed) bytes += bytesOfName + name.length + contest.length
  return bytes
}

function contestsIn(children: readonly NamedChild[], names: readonly string[]): Map<string, NameContest> {
  const others = new Map<string, string[]>()
  children.forEach((child, at) => {
    const given = names[at] ?? ''
    if (given === child.title || splitMark(given)?.id !== child.id) return
    const bare = escapeTitle(child.title)
    const known = others.get(bare)
    if (known === undefined) others.set(bare, [childKey(child)])
    else known.push(childKey(child))
  })
  const owners = new Map<string, string>()
  if (others.size > 0)
    children.forEach((child, at) => {
      const given = names[at] ?? ''
      if (others.has(given)) owners.set(given, childKey(child))
    })
  // A joined text holds nothing of its parts.
  return new Map([...others].map(([name, marked]) => [name, [owners.get(name) ?? '', ...marked].join(' ')]))
}
