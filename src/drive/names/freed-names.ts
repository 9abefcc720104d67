// A name that becomes free stays free of its siblings for an hour: a path that is used twice never means two things.
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

/** Several children of one title: which one has the bare name, and which ones have marked names for that reason. */
interface NameContest {
  readonly owner: string | undefined
  readonly others: ReadonlySet<string>
}

interface FreedName {
  /** The siblings that stood there when the name became free. */
  readonly others: ReadonlySet<string>
  readonly until: Instant
}

interface DirectoryNames {
  readonly contests: ReadonlyMap<string, NameContest>
  readonly freed: Map<string, FreedName>
}

/** Milliseconds for which a script that goes through old names, or a person at a shell, may still use one. */
const withheldMs = 3_600_000
const directoriesAtMost = 4096

export function openFreedNames(now: () => Instant): FreedNames {
  const directories = new LRUCache<string, DirectoryNames>({ max: directoriesAtMost })

  /** What earlier names withhold from the children that are listed now. */
  function freedIn(earlier: DirectoryNames, children: readonly NamedChild[]): Map<string, FreedName> {
    const freed = new Map([...earlier.freed].filter(([, { until }]) => until > now()))
    const ownersLeft = new Set([...earlier.contests.values()].map(({ owner }) => owner))
    const titles = new Map<string, string>()
    for (const child of children)
      if (ownersLeft.has(childKey(child))) titles.set(childKey(child), escapeTitle(child.title))
    for (const [name, { owner, others }] of earlier.contests)
      if (owner !== undefined && titles.get(owner) !== name)
        freed.set(name, { others, until: instant(now() + withheldMs) })
    return freed
  }

  return {
    name(directory, children) {
      const earlier = directories.get(directory)
      const freed = earlier === undefined ? new Map<string, FreedName>() : freedIn(earlier, children)
      const names = nameChildren(
        children,
        (child, name) => freed.size > 0 && freed.get(name)?.others.has(childKey(child)) === true,
      )
      const contests = contestsIn(children, names)
      if (contests.size === 0 && freed.size === 0) directories.delete(directory)
      else directories.set(directory, { contests, freed })
      const ends = [...freed.values()].map(({ until }) => until)
      return { names, until: ends.length === 0 ? undefined : instant(Math.min(...ends)) }
    },
  }
}

const childKey = ({ kind, id }: NamedChild): string => `${kind} ${id}`

function contestsIn(children: readonly NamedChild[], names: readonly string[]): Map<string, NameContest> {
  const others = new Map<string, Set<string>>()
  children.forEach((child, at) => {
    const given = names[at] ?? ''
    if (given === child.title || splitMark(given)?.id !== child.id) return
    const bare = escapeTitle(child.title)
    others.set(bare, (others.get(bare) ?? new Set()).add(childKey(child)))
  })
  const owners = new Map<string, string>()
  if (others.size > 0)
    children.forEach((child, at) => {
      const given = names[at] ?? ''
      if (others.has(given)) owners.set(given, childKey(child))
    })
  return new Map([...others].map(([name, marked]) => [name, { owner: owners.get(name), others: marked }]))
}
