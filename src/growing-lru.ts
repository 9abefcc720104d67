// Growing LRU cache: at most so many entries, in arrays that grow with them. The library's own `max` allocates room for all of them at once, which took each mount 3 MB and 20 ms.

import { LRUCache } from 'lru-cache'

/** Options of an LRUCache that holds so many entries at most. */
export const upTo = (
  entries: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})

const madeAtMost = 1_000

/** The same value for the same id, as long as it is asked for often. */
export function madeOnce<Id extends string, Value extends object>(
  make: (of: Id) => Value,
): (of: Id) => Value {
  const made = new LRUCache<string, Value>(upTo(madeAtMost))
  return of => {
    const known = made.get(of)
    if (known !== undefined) return known
    const value = make(of)
    made.set(of, value)
    return value
  }
}
