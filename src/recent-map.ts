// Answers that are kept: those used last, at most so many; one for each id; one for each object.
import { LRUCache } from 'lru-cache'

/** Its arrays grow with it: the library's own `max` allocates room for all at once, which took each mount 3 MB and 20 ms. */
export class RecentMap<
  Key extends object | string | number,
  Value extends object | string | number | true,
> extends LRUCache<Key, Value> {
  /** Some were given up for others. */
  hasForgotten = false

  constructor(most: number) {
    super({
      maxSize: most,
      sizeCalculation: () => 1,
      dispose: (_value, _key, reason) => {
        if (reason === 'evict') this.hasForgotten = true
      },
    })
  }

  override clear(): void {
    super.clear()
    this.hasForgotten = false
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

/** The same value for the same object, as long as that lives. */
export function foundOnce<Of extends object, Value>(find: (of: Of) => Value): (of: Of) => Value {
  const found = new WeakMap<Of, { readonly value: Value }>()
  return of => {
    const known = found.get(of) ?? { value: find(of) }
    found.set(of, known)
    return known.value
  }
}
