// Answers that are kept: those used last, at most so many; one for each id; one for each object.
import { LRUCache } from 'lru-cache'

/** Its arrays grow with it: the library's own `max` allocates room for all at once, which took each mount 3 MB and 20 ms. */
export class RecentMap<
  Key extends object | string | number,
  Value extends object | string | number | true,
> extends LRUCache<Key, Value> {
  constructor(most: number, options: { readonly dispose?: LRUCache.Disposer<Key, Value> } = {}) {
    super({ maxSize: most, sizeCalculation: () => 1, ...options })
  }
}

const madeAtMost = 1_000

/** The same value for the same id, as long as it is asked for often. */
export function madeOnce<Id extends string, Value extends object>(
  make: (of: Id) => Value,
): (of: Id) => Value {
  const made = new RecentMap<Id, Value>(madeAtMost)
  return of => {
    const known = made.get(of)
    if (known !== undefined) return known
    const value = make(of)
    made.set(of, value)
    return value
  }
}

/** The same value for the same object, as long as that lives; of one that is too long nothing is held. */
export function foundOnce<Of extends object, Value>(
  find: (of: Of) => Value,
  isLong?: (of: Of) => boolean,
): (of: Of) => Value {
  const found = new WeakMap<Of, { readonly value: Value }>()
  return of => {
    if (isLong?.(of) === true) return find(of)
    const known = found.get(of) ?? { value: find(of) }
    found.set(of, known)
    return known.value
  }
}
