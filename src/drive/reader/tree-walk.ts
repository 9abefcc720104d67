// The walk through a tree: directories are looked at side by side, ahead of what is shown, and shown in the order of names.
import type { TreeItem } from '../interface/reader.js'

/** One name of a directory that was looked at: what is shown of it, and the directory to enter after that. */
export interface Seen<Place> {
  readonly items: readonly TreeItem[]
  readonly enter?: Place | undefined
}

/** A directory of the walk. */
interface Look<Place> {
  readonly place: Place
  /** Its place among all directories of the walk: where it stands in each directory on the way to it. */
  readonly order: readonly number[]
  found?: Promise<readonly Seen<Place>[]>
  isSettled: boolean
}

/** So many directories are looked at side by side. */
const looksAtOnce = 32
/** So many may have been looked at before the walk has come to them: what is found waits in memory, and a copy would ask for its records again. */
const looksAhead = 64
/** So many with those that come sooner in the order than what was found first: without them each waits until the walk is there, one by one. */
const looksHeld = 256
/** So many items are one batch. */
const batchSize = 256

/**
 * All items from here on, in batches; a batch ends early where the next directory is not known yet. `look` never rejects:
 * what fails is an item.
 */
export async function* walkTree<Place>(
  top: readonly Seen<Place>[],
  look: (place: Place) => Promise<readonly Seen<Place>[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly TreeItem[]> {
  const looks = openLooks(look, signal)
  const frames = [{ seen: looks.enqueue(top, []), at: 0 }]
  let batch: TreeItem[] = []
  try {
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const next = frame.seen[frame.at]
      frame.at += 1
      if (next === undefined) {
        frames.pop()
        continue
      }
      batch.push(...next.items)
      if (batch.length >= batchSize || (next.enter?.isSettled === false && batch.length > 0)) {
        yield batch
        batch = []
      }
      if (next.enter !== undefined) frames.push({ seen: await looks.take(next.enter), at: 0 })
      signal.throwIfAborted()
    }
    if (batch.length > 0) yield batch
  } finally {
    looks.end()
  }
}

interface Entered<Place> {
  readonly items: readonly TreeItem[]
  readonly enter: Look<Place> | undefined
}

/** The directories that the walk has not come to yet. Those next in its order are looked at first. */
function openLooks<Place>(look: (place: Place) => Promise<readonly Seen<Place>[]>, signal: AbortSignal) {
  /** The last one is the next in the order of the walk: whatever came in first, what is shown first is looked at first. */
  const waiting: Look<Place>[] = []
  const ahead = new WeakMap<Look<Place>, readonly Entered<Place>[]>()
  /** Looked at, or being looked at, before the walk has come there. */
  const held = new Set<Look<Place>>()
  let underWay = 0
  let isOver = false

  function enqueue(seen: readonly Seen<Place>[], above: readonly number[]): readonly Entered<Place>[] {
    const entered = seen.map(({ items, enter }, at) => ({
      items,
      enter: enter === undefined ? undefined : { place: enter, order: [...above, at], isSettled: false },
    }))
    // The entries of one directory are one piece of the order.
    const block = entered.flatMap(({ enter }) => enter ?? []).reverse()
    waiting.splice(placeOf(above, waiting), 0, ...block)
    begin()
    return entered
  }

  function begin(): void {
    while (!isOver && !signal.aborted && underWay < looksAtOnce) {
      const next = waiting.at(-1)
      if (next === undefined || (next.found === undefined && !mayBegin(next))) return
      waiting.pop()
      if (next.found === undefined) void start(next)
    }
  }

  function mayBegin(next: Look<Place>): boolean {
    if (held.size < looksAhead) return true
    const sooner = [...held].filter(({ order }) => !isAfter(order, next.order)).length
    return sooner < looksAtOnce && held.size < looksHeld
  }

  function start(next: Look<Place>): Promise<readonly Seen<Place>[]> {
    underWay += 1
    held.add(next)
    const found = look(next.place)
    next.found = found
    found
      .then(seen => {
        ahead.set(next, enqueue(seen, next.order))
      })
      .catch(() => {})
      .finally(() => {
        next.isSettled = true
        underWay -= 1
        begin()
      })
    return found
  }

  return {
    enqueue,
    /** The find there; looked at now, out of turn, where that has not begun. */
    async take(next: Look<Place>): Promise<readonly Entered<Place>[]> {
      const seen = await (next.found ?? start(next))
      held.delete(next)
      begin()
      return ahead.get(next) ?? enqueue(seen, next.order)
    },
    end(): void {
      isOver = true
      waiting.length = 0
    },
  }
}

/** Where the directories below `above` stand among those that wait, the last of which comes first. */
function placeOf(
  above: readonly number[],
  waiting: readonly { readonly order: readonly number[] }[],
): number {
  let [from, to] = [0, waiting.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isAfter(waiting[middle]?.order ?? [], above)) from = middle + 1
    else to = middle
  }
  return from
}

function isAfter(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((place, depth) => place !== other[depth])
  if (at === -1) return false
  return (one[at] ?? 0) > (other[at] ?? Number.NEGATIVE_INFINITY)
}
