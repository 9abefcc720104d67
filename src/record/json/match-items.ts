// Item matching: the old item of a list that a written one comes from, where programs may have rounded the ids.
import { canonicalForm } from './equal.js'
import type { Json } from './json.js'
import { decimalOf, doublesOf } from './same-number.js'

/** `idOf` answers a number or a text; undefined for an item that has no id. */
interface Identifying {
  readonly isSameNumber: (base: string, written: string) => boolean
  readonly idOf: (item: Json) => Json | undefined
}

/** The written items of one id, and the old ones that this id may mean. */
interface Group {
  readonly written: readonly number[]
  readonly candidates: readonly number[]
}

/**
 * An item is the old one with its id, or the only one left with that rounded id; of several the one in its place, if it says the
 * same. Answers the index of the old one of each, and in a sentence which rounded id may be one of several.
 */
export function matchItems(
  before: readonly Json[],
  after: readonly Json[],
  { isSameNumber, idOf }: Identifying,
) {
  const old = before.map(idOf)
  const ids = after.map(idOf)
  if (!old.some(Boolean) || !ids.some(Boolean)) return { places: byPlace(before, after), doubt: undefined }
  const groups = groupsOf(ids, old, isSameNumber)
  const places: (number | undefined)[] = after.map(() => undefined)
  const used = new Set<number>()
  const doubts = new Map<string, ReadonlySet<string>>()
  // The clear ones first: they leave fewer to the others.
  const isClear = ({ candidates }: Group) => meanings(candidates, old).size < 2
  for (const group of [...groups.filter(isClear), ...groups.filter(one => !isClear(one))]) {
    const candidates = group.candidates.filter(place => !used.has(place))
    const found = matchGroup({ ...group, candidates }, { before, after, old, ids })
    if (found === undefined) doubts.set(shown(ids[group.written[0] ?? -1]), meanings(group.candidates, old))
    for (const [at, place] of found ?? []) {
      places[at] = place
      if (place !== undefined) used.add(place)
    }
  }
  return { places, doubt: doubtOf(doubts) ?? doubtOfNew({ ids, old }, places) }
}

/** Items without ids: what both lists begin with, and what both end with where their lengths differ. */
function byPlace(before: readonly Json[], after: readonly Json[]): readonly (number | undefined)[] {
  if (before.length === after.length) return after.map((_, at) => at)
  const isSame = (at: number, from: number) => texts(before.at(at)) === texts(after.at(from))
  const shorter = Math.min(before.length, after.length)
  let first = 0
  while (first < shorter && isSame(first, first)) first += 1
  let last = 0
  while (last < shorter - first && isSame(-1 - last, -1 - last)) last += 1
  return after.map((_, at) => {
    if (at < first) return at
    return at >= after.length - last ? at + before.length - after.length : undefined
  })
}

function groupsOf(
  ids: readonly (Json | undefined)[],
  old: readonly (Json | undefined)[],
  isSameNumber: Identifying['isSameNumber'],
): readonly Group[] {
  const numbers = new Map<number, number[]>()
  const words = new Map<string, number[]>()
  for (const [place, id] of old.entries()) {
    for (const double of id?.type === 'number' ? doublesOf(id.raw) : [])
      numbers.set(double, [...(numbers.get(double) ?? []), place])
    words.set(shown(id), [...(words.get(shown(id)) ?? []), place])
  }
  const candidatesFor = (id: Json | undefined): readonly number[] => {
    if (id?.type !== 'number') return words.get(shown(id)) ?? []
    const near = numbers.get(Number(id.raw)) ?? []
    return near.filter(place => {
      const known = old[place]
      return known?.type === 'number' && isSameNumber(known.raw, id.raw)
    })
  }
  const written = new Map<string, number[]>()
  for (const [at, id] of ids.entries()) written.set(label(id), [...(written.get(label(id)) ?? []), at])
  return [...written.values()].map(own => ({ written: own, candidates: candidatesFor(ids[own[0] ?? -1]) }))
}

interface Lists {
  readonly before: readonly Json[]
  readonly after: readonly Json[]
  readonly old: readonly (Json | undefined)[]
  readonly ids: readonly (Json | undefined)[]
}

type Pairs = ReadonlyMap<number, number | undefined>

/** Undefined where it is in doubt. */
function matchGroup({ written, candidates }: Group, lists: Lists): Pairs | undefined {
  const { before, after, old, ids } = lists
  const meant = meanings(candidates, old)
  const inOrder: Pairs = new Map(written.map((at, turn) => [at, candidates[turn]]))
  if (meant.size === 0) return inOrder
  if (meant.size === 1) {
    const isExact = written.every(
      at => ids[at]?.type !== 'number' || label(ids[at]) === label(old[candidates[0] ?? -1]),
    )
    return isExact || written.length <= candidates.length ? inOrder : undefined
  }
  // Rows that may be each other are told apart only where they stand as they stood.
  const isUnmoved = (at: number) => candidates.includes(at) && texts(before[at]) === texts(after[at])
  return before.length === after.length && written.every(isUnmoved)
    ? new Map(written.map(at => [at, at]))
    : undefined
}

const meanings = (places: readonly number[], old: Lists['old']): ReadonlySet<string> =>
  new Set(places.map(place => shown(old[place])))

const label = (id: Json | undefined): string =>
  id?.type === 'number' ? decimalOf(id.raw) : JSON.stringify(shown(id))

const shown = (id: Json | undefined): string =>
  id?.type === 'string' ? id.value.trim() : id?.type === 'number' ? id.raw : ''

/** All of an item that no program rounds. */
function texts(item: Json | undefined): string {
  if (item?.type !== 'object') return item === undefined || item.type === 'number' ? '' : canonicalForm(item)
  const fields = item.fields.filter(({ value }) => value.type !== 'number')
  return canonicalForm({ type: 'object', fields })
}

function doubtOf(doubts: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  for (const [id, meant] of doubts)
    return `${id} in a list may be a rounded number, and which one is meant is not known (${[...meant].join(' or ')}); ${quoting}`
  return undefined
}

const quoting = 'write a number of more than 15 digits in double quotes, for then no program rounds it'

/** Beside ids that were rounded, a new one that is so long may have been rounded, too. */
function doubtOfNew(
  { ids, old }: Pick<Lists, 'ids' | 'old'>,
  places: readonly (number | undefined)[],
): string | undefined {
  const isRounded = places.some((place, at) => place !== undefined && label(old[place]) !== label(ids[at]))
  const isLong = (id: Json | undefined) =>
    id?.type === 'number' && Number.isInteger(Number(id.raw)) && !Number.isSafeInteger(Number(id.raw))
  const fresh = isRounded ? ids.find((id, at) => places[at] === undefined && isLong(id)) : undefined
  return fresh && `${shown(fresh)} in a list is new, and may be a rounded number; ${quoting}`
}
