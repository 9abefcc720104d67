// Walker: one program on its way through the folders of the tree, and the set of folders that it will enter next.
import { lastNameOf, parentOf } from '../../layout.js'
import { namesAlong } from '../nodes/name.js'
import { type FolderOrder, type ListedDirectory, ordersOf, placeOf } from './listed-directory.js'
import { type Marks, openMarks } from './marks.js'
import { type OrderVotes, openOrderVotes } from './order-votes.js'

export interface Walker {
  /** The folder that was entered last. */
  readonly last: string
  /** It enters the folders of folders. */
  readonly descends: boolean
  /** It is on its way through the folders of a directory: more of them are expected. */
  readonly isWalking: boolean
  /**
   * How far off a step to this folder would be: 0 where it is there already, or was a moment ago; infinite where it is
   * in the same set, but in no order. Undefined where the step is another program's.
   */
  distance(path: string): number | undefined
  /** It enters this folder; `hastily`: sooner after the last thing it did than a person would. */
  step(path: string, hastily: boolean): void
  /** Whether it is, or was, in the directory at this path: entered it, or something in it. */
  wasIn(path: string): boolean
  /** Its steps leave no doubt that there is an order; else any folder of the set may be the next. */
  readonly isInOrder: boolean
  /**
   * The folder to be listed next, which counts as foreseen from now on; undefined where nothing is left that it may enter.
   * `mayPresume`: also in a directory that it came through on its way, and may go on in.
   */
  foresee(mayPresume: boolean): Foreseen | undefined
  /** The same in the directory that it is in, alone. */
  foreseeHere(): Foreseen | undefined
  /** Whether it is not certain that it enters this folder's directory any further. */
  isPresumed(path: string): boolean
  /** A folder was listed that it may go into. */
  heard(): void
  /** It was not listed after all. */
  unforesee(path: string): void
  /** It left this folder, or what this folder lies in, behind, or has passed it by. */
  isBehind(path: string): boolean
  /** One that has done the same so far. */
  fork(): Walker
}

export interface Foreseen {
  readonly path: string
  readonly place: number
  readonly above: ListedDirectory
}

/** So many folders back, a late call says nothing of a step. */
const backAtMost = 8
/** How far off a step into a folder is that was entered before. */
const levelByLevel = 2
/** So many folders of a directory, one near the other, make a walk through it. */
const inOrderAtLeast = 2
/** The same where they are in no order, or were only passed on the way down. */
const inNoOrderAtLeast = 3

/** So many first folders of directories, one in the other and each at once, make a walk through all of these directories. */
const descentsAtLeast = 3
/** Directories with marks that are copied for a fork. */
const markedAtMost = 1_024

/** What a walker hands on to its fork. */
interface Past {
  readonly votes: OrderVotes
  readonly marks: WeakMap<ListedDirectory, Marks>
  /** The paths of the directories with marks. */
  readonly marked: Set<string>
  readonly recent: string[]
  last: string
  descends: boolean
  /** How many directories, one in the other, it began with their first folder. */
  descents: number
  /** It went on in a directory after it had been in one below: it goes on in all that it came through. */
  returns: boolean
  /** It takes one level after the other: then what is deeper comes later. */
  isByLevels: boolean
}

type Known = (path: string) => ListedDirectory | undefined

interface OrderFrom {
  readonly way: FolderOrder
  readonly by: 1 | -1
  at: number
}

/** The next place in each order, then the next but one, and so on. */
function* along(ways: readonly OrderFrom[]): Generator<number> {
  for (let open = ways; open.length > 0; ) {
    open = open.filter(one => {
      one.at += one.by
      return one.at >= 0 && one.at < one.way.sequence.length
    })
    for (const { way, at } of open) yield way.sequence[at] ?? 0
  }
}

/** `top`: the directory that was listed right before its first step. `descendsToo`: another one, whose step this may be, enters the folders of folders. */
export function openWalker(
  first: string,
  known: Known,
  top: string | undefined,
  descendsToo: boolean,
): Walker {
  const past: Past = {
    votes: openOrderVotes(),
    marks: new WeakMap(),
    marked: new Set(),
    recent: [],
    last: top ?? first,
    descends: descendsToo,
    descents: 0,
    returns: false,
    isByLevels: false,
  }
  const walker = walkerFrom(past, known, top)
  walker.step(first, false)
  return walker
}

function walkerFrom(past: Past, known: Known, top: string | undefined): Walker {
  const { votes, marks, marked, recent } = past
  /** Nothing is left to foresee, until it takes a step or hears of other folders. */
  let isThrough = false
  /** The same of the directory that it is in. */
  let isThroughHere = false

  /** There may be more to foresee now. */
  function look(): void {
    isThrough = false
    isThroughHere = false
  }

  function marksOf(folder: ListedDirectory): Marks {
    const made = marks.get(folder) ?? openMarks(folder)
    if (folder.folders.length > 0 && !marked.has(folder.path)) {
      marked.add(folder.path)
      if (marked.size > markedAtMost)
        for (const path of marked) if (known(path) === undefined) marked.delete(path)
    }
    marks.set(folder, made)
    return made
  }

  /** A folder with the directory it stands in, as that was listed. */
  function placed(path: string): { above: ListedDirectory; place: number } | undefined {
    const above = known(parentOf(path))
    const place = above && placeOf(above, lastNameOf(path))
    return above === undefined || place === undefined ? undefined : { above, place }
  }

  function mark(path: string): void {
    const at = placed(path)
    if (at === undefined) return
    marksOf(at.above).set(at.place, 'entered')
    for (let over = placed(at.above.path); over !== undefined; over = placed(over.above.path)) {
      if (marksOf(over.above).has(over.place, 'passed')) return
      marksOf(over.above).set(over.place, 'passed')
    }
  }

  /** Whether so much of a directory was entered that the rest of it is expected. */
  function isWalked(folder: ListedDirectory): boolean {
    if ((past.returns || past.descents >= descentsAtLeast) && isOnWay(folder)) return true
    const here = marksOf(folder)
    const least = votes.leaders().length > 0 ? inOrderAtLeast : inNoOrderAtLeast
    return here.count('entered') >= least || here.count('passed') >= inNoOrderAtLeast
  }

  /** From where to where a step leads in the directory that both are below. */
  function turn(
    path: string,
  ): { above: ListedDirectory; from: number; to: number; down: number } | undefined {
    const steps = namesAlong(path)
    const came = namesAlong(past.last)
    let same = 0
    while (same < steps.length && steps[same] === came[same]) same += 1
    const above = known(steps.slice(0, same).join('/'))
    const to = above && placeOf(above, steps[same] ?? '')
    const from = above && placeOf(above, came[same] ?? '')
    if (above === undefined || from === undefined || to === undefined) return undefined
    return { above, from, to, down: steps.length - same }
  }

  function distance(path: string): number | undefined {
    const { last } = past
    if (path === last || last.startsWith(`${path}/`) || recent.includes(path)) return 0
    if (parentOf(path) === last) return 1
    const at = placed(path)
    // Where it has been, another program is on its way.
    if (at === undefined || marksOf(at.above).has(at.place, 'entered')) return undefined
    const way = turn(path)
    if (way === undefined) return undefined
    if (isLeftForLater(parentOf(path))) return levelByLevel
    const here = marksOf(way.above)
    const near = votes.distance(way.above, way.from, way.to, place => here.wasIn(place))
    if (near !== undefined && way.down <= 2) return near
    if (votes.established) return undefined
    const levels = namesAlong(path).length - namesAlong(last).length
    return way.down === 1 || (way.down === 2 && Math.abs(levels) <= 1) ? Number.POSITIVE_INFINITY : undefined
  }

  /** It entered the folder, and nothing in it yet: a walk level by level comes back. */
  function isLeftForLater(path: string): boolean {
    const at = placed(path)
    if (at === undefined) return false
    const here = marksOf(at.above)
    return here.has(at.place, 'entered') && !here.has(at.place, 'passed')
  }

  function step(path: string, hastily: boolean): void {
    const { last } = past
    const above = parentOf(path)
    const way = turn(path)
    if (way !== undefined) {
      const here = marksOf(way.above)
      votes.stepped(way.above, way.from, way.to, place => here.wasIn(place))
      // From below, and on in a directory that it came through.
      if (way.down === 1 && parentOf(last) !== above) past.returns ||= isOnWay(way.above)
    } else if (above === last) descend(path, hastily)
    past.isByLevels = above !== last && (past.isByLevels || isLeftForLater(above))
    mark(path)
    look()
    past.last = path
    recent.push(path)
    if (recent.length > backAtMost) recent.shift()
    past.descends ||= past.descents >= descentsAtLeast || hasDescended(path)
  }

  /** Into the first folder of the directory that it is in. */
  function descend(path: string, hastily: boolean): void {
    const at = placed(path)
    if (at === undefined || at.above.folders.length < 2 || marksOf(at.above).count('entered') > 0) return
    const isFirst = ordersOf(at.above).some(
      ({ sequence }) => sequence[0] === at.place || sequence.at(-1) === at.place,
    )
    if (past.descents < descentsAtLeast) past.descents = isFirst && hastily ? past.descents + 1 : 0
    votes.stepped(at.above, undefined, at.place, () => false)
  }

  /** It came through this directory on its way down. */
  function isOnWay({ path }: ListedDirectory): boolean {
    const at = placed(path)
    return path === top || (at !== undefined && marksOf(at.above).has(at.place, 'entered'))
  }

  /** Of a directory that is walked through, one folder was gone into. */
  function hasDescended(path: string): boolean {
    for (let above = known(parentOf(path)); above !== undefined; above = known(parentOf(above.path)))
      if (isWalked(above) && marksOf(above).count('passed') > 0) return true
    return false
  }

  /** The directories that it is in, upwards, as far as it walks through them; `mayPresume`: and as far as it came through them. */
  function walked(mayPresume: boolean): readonly ListedDirectory[] {
    const { last, descends } = past
    const way: ListedDirectory[] = []
    let most = 0
    for (let path = last; path !== ''; path = parentOf(path)) {
      const folder = known(path)
      if (folder === undefined) {
        if (path === last) continue
        break
      }
      way.push(folder)
      if (path === last) continue
      if (isWalked(folder) || (mayPresume && most > 0 && isOnWay(folder))) most = way.length
    }
    const below = way.slice(0, most)
    return descends ? below : below.filter(one => isWalked(one) || (mayPresume && isOnWay(one)))
  }

  /** The places of a directory's folders, the nearest first in the orders that explain the steps. */
  function* expected(folder: ListedDirectory): Generator<number> {
    const { last } = past
    const leaders = votes.leaders()
    const orders = ordersOf(folder)
    const here = last.startsWith(`${folder.path}/`)
      ? placeOf(folder, namesAlong(last)[namesAlong(folder.path).length] ?? '')
      : undefined
    const ways = leaders.flatMap(({ order, by }, at) => {
      const way = orders[order]
      if (way === undefined) return []
      const isTwin = leaders.slice(0, at).some(other => other.by === by && orders[other.order] === way)
      if (isTwin) return []
      const start = here === undefined ? (by > 0 ? -1 : way.sequence.length) : (way.positions[here] ?? -1)
      return [{ way, by, at: start }]
    })
    if (votes.established && ways.length === 1) return yield* along(ways)
    // Each place once: what lies below it is looked through each time.
    const told = new Set<number>()
    for (const place of along(ways)) {
      if (told.has(place)) continue
      told.add(place)
      yield place
    }
    if (votes.established) return
    const count = folder.folders.length
    for (let place = marksOf(folder).firstLeft(); place < count; place += 1) if (!told.has(place)) yield place
  }

  /** `levels`: how many below this one are looked at. */
  function foreseeIn(folder: ListedDirectory, levels: number): Foreseen | undefined {
    const { last, descends } = past
    if (levels < 0) return undefined
    const here = marksOf(folder)
    for (const place of expected(folder)) {
      if (here.has(place, 'exhausted')) continue
      const path = `${folder.path}/${folder.folders[place]?.name ?? ''}`
      if (!here.has(place, 'foreseen') && !here.wasIn(place)) {
        here.set(place, 'foreseen')
        return { path, place, above: folder }
      }
      const below = known(path)
      // It is on its way, or was forgotten.
      if (below === undefined) continue
      if (below.folders.length === 0) here.set(place, 'exhausted')
      if (below.folders.length === 0 || !descends || last === path || last.startsWith(`${path}/`)) continue
      const next = foreseeIn(below, levels - 1)
      if (next !== undefined) return next
      if (marksOf(below).firstLeft() === below.folders.length) here.set(place, 'exhausted')
    }
    return undefined
  }

  return {
    get last() {
      return past.last
    },
    get descends() {
      return past.descends
    },
    get isWalking() {
      return walked(false).length > 0
    },
    distance,
    step,
    wasIn(path) {
      if (past.last === path || past.last.startsWith(`${path}/`)) return true
      const at = placed(path)
      return at !== undefined && marksOf(at.above).wasIn(at.place)
    },
    get isInOrder() {
      return votes.established
    },
    foresee(mayPresume) {
      if (isThrough) return undefined
      const folders = walked(mayPresume)
      const depth = namesAlong(past.last).length
      const limits = past.isByLevels ? [depth - 1, depth] : [Number.POSITIVE_INFINITY]
      for (const limit of limits) {
        for (const folder of folders) {
          const next = foreseeIn(folder, limit - namesAlong(folder.path).length)
          if (next !== undefined) return next
        }
      }
      isThrough = mayPresume
      return undefined
    },
    foreseeHere() {
      if (isThroughHere) return undefined
      const here = known(parentOf(past.last))
      const next = here !== undefined && isWalked(here) ? foreseeIn(here, 0) : undefined
      isThroughHere = next === undefined
      return next
    },
    isPresumed(path) {
      for (let above = known(parentOf(path)); above !== undefined; above = known(parentOf(above.path)))
        if (isWalked(above)) return false
      return true
    },
    heard: look,
    unforesee(path) {
      look()
      const at = placed(path)
      if (at !== undefined) marksOf(at.above).unforesee(at.place)
    },
    isBehind(path) {
      const way = turn(path)
      if (way === undefined || past.isByLevels) return false
      return marksOf(way.above).wasIn(way.to) || votes.isPassed(way.above, way.from, way.to)
    },
    fork() {
      const copies = new WeakMap<ListedDirectory, Marks>()
      for (const path of marked) {
        const folder = known(path)
        const made = folder && marks.get(folder)
        if (folder !== undefined && made !== undefined) copies.set(folder, made.copy())
      }
      const own = { votes: votes.copy(), marks: copies, marked: new Set(marked), recent: [...recent] }
      return walkerFrom({ ...past, ...own }, known, top)
    },
  }
}
