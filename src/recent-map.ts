// Recent map: values that were put or asked for a while ago; a look-up costs what a Map's does, which an LRU list's does not.

export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/** Holds at most so many entries, and at least the half of them that were used last. */
export function openRecentMap<Value>(atMost: number): RecentMap<Value> {
  let young = new Map<string, Value>()
  let old = new Map<string, Value>()

  function set(key: string, value: Value): void {
    if (young.size >= atMost / 2 && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const found = young.get(key)
      if (found !== undefined) return found
      const before = old.get(key)
      if (before !== undefined) {
        old.delete(key)
        set(key, before)
      }
      return before
    },
    set,
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}

const madeAtMost = 1_000

/** The same value for the same id, as long as it is asked for often. */
export function madeOnce<Id extends string, Value>(make: (of: Id) => Value): (of: Id) => Value {
  const made = openRecentMap<Value>(madeAtMost)
  return of => {
    const known = made.get(of)
    if (known !== undefined) return known
    const value = make(of)
    made.set(of, value)
    return value
  }
}
