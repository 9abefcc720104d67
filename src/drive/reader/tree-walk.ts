// The walk through a tree: directories are looked at side by side, ahead of what is shown, and shown in the order of names.
import type { TreeItem } from '../interface/reader.js'

/** One name of a directory that was looked at: what is shown of it, and the directory to enter after that. */
export interface Seen<Place> {
  readonly items: readonly TreeItem[]
  readonly enter?: Place | undefined
}

/** Items in the order of the walk up to a directory; once that was looked at, what lies in it comes next. */
interface Stretch<Place> {
  readonly items: TreeItem[]
  enter?: Place
  looked?: Promise<void>
  isKnown?: boolean
  next?: Stretch<Place> | undefined
}

const looksAtOnce = 32
/** So many are looked at before the walk has come to them: what is found waits in memory, and a copy would ask for its records again. */
const looksAhead = 64
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
  let here: Stretch<Place> | undefined = stretchesOf(top)
  let underWay = 0
  let batch: TreeItem[] = []

  /** Looks at the next directories in the order of the walk, whatever was found first. */
  function begin(): void {
    let ahead = 0
    for (let at = here; at !== undefined; at = at.next) {
      if (at.enter === undefined) continue
      if (signal.aborted || underWay >= looksAtOnce || ahead >= looksAhead) return
      ahead += 1
      at.looked ??= lookInto(at, at.enter)
    }
  }

  async function lookInto(stretch: Stretch<Place>, directory: Place): Promise<void> {
    underWay += 1
    const seen = await look(directory)
    underWay -= 1
    stretch.next = stretchesOf(seen, stretch.next)
    stretch.isKnown = true
    begin()
  }

  try {
    begin()
    while (here !== undefined) {
      for (const item of here.items) {
        batch.push(item)
        if (batch.length < batchSize) continue
        yield batch
        batch = []
      }
      if (here.enter !== undefined) {
        if (here.isKnown !== true && batch.length > 0) {
          yield batch
          batch = []
        }
        here.looked ??= lookInto(here, here.enter)
        await here.looked
      }
      here = here.next
      begin()
      signal.throwIfAborted()
    }
    if (batch.length > 0) yield batch
  } finally {
    here = undefined
  }
}

function stretchesOf<Place>(seen: readonly Seen<Place>[], after?: Stretch<Place>): Stretch<Place> {
  const first: Stretch<Place> = { items: [] }
  let last = first
  for (const { items, enter } of seen) {
    last.items.push(...items)
    if (enter === undefined) continue
    last.enter = enter
    last.next = { items: [] }
    last = last.next
  }
  last.next = after
  return first
}
