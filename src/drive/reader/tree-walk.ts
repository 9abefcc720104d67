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
  found?: Promise<Level<Place>> | undefined
  /** The same once it is known. */
  below?: Level<Place> | undefined
}

interface Entry<Place> {
  readonly items: readonly TreeItem[]
  readonly enter: Look<Place> | undefined
}

/** The entries of one directory. */
interface Level<Place> {
  readonly entries: readonly Entry<Place>[]
  /** Those that are directories. */
  readonly looks: readonly Look<Place>[]
  /** The walk has come to so many of them. */
  passed: number
}

/** So many directories are looked at side by side. */
const looksAtOnce = 32
/** So many are looked at before the walk has come to them: what is found waits in memory, and a copy would ask for its records again. */
const looksAhead = 64
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
  const frames = [{ level: levelOf(top), at: 0 }]
  let underWay = 0
  let batch: TreeItem[] = []

  /** Looks at the next directories in the order of the walk, whatever was found first. */
  function begin(): void {
    let ahead = 0
    for (const { level } of frames.toReversed())
      for (const next of comingIn(level)) {
        if (signal.aborted || underWay >= looksAtOnce || ahead >= looksAhead) return
        ahead += 1
        if (next.found === undefined) void start(next)
      }
  }

  function start(next: Look<Place>): Promise<Level<Place>> {
    underWay += 1
    next.found = look(next.place).then(seen => {
      underWay -= 1
      next.below = levelOf(seen)
      begin()
      return next.below
    })
    return next.found
  }

  try {
    begin()
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const next = frame.level.entries[frame.at]
      frame.at += 1
      if (next === undefined) {
        frames.pop()
        continue
      }
      const { items, enter } = next
      batch.push(...items)
      if (
        batch.length >= batchSize ||
        (enter !== undefined && enter.below === undefined && batch.length > 0)
      ) {
        yield batch
        batch = []
      }
      if (enter !== undefined) {
        const level = await (enter.found ?? start(enter))
        frame.level.passed += 1
        frames.push({ level, at: 0 })
        // The directory above goes on, and has no use for it.
        enter.found = undefined
        enter.below = undefined
        begin()
      }
      signal.throwIfAborted()
    }
    if (batch.length > 0) yield batch
  } finally {
    frames.length = 0
  }
}

function levelOf<Place>(seen: readonly Seen<Place>[]): Level<Place> {
  const entries = seen.map(
    ({ items, enter }): Entry<Place> => ({
      items,
      enter: enter === undefined ? undefined : { place: enter },
    }),
  )
  return { entries, looks: entries.flatMap(({ enter }) => enter ?? []), passed: 0 }
}

/** Directories to which the walk has not come, with what is known to lie in them, in its order. */
function* comingIn<Place>(level: Level<Place>): Generator<Look<Place>> {
  for (let at = level.passed; at < level.looks.length; at += 1) {
    const next = level.looks[at]
    if (next === undefined) return
    yield next
    if (next.below !== undefined) yield* comingIn(next.below)
  }
}
