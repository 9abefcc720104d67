// Answers that are kept: those used last, at most so many, in two generations (an exact order costs several times as much at each use); one for each id; one for each object.

export class RecentMap<Key, Value extends NonNullable<unknown>> {
  /** Some were given up for others. */
  hasForgotten = false
  readonly #half: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(most: number) {
    this.#half = Math.ceil(most / 2)
  }

  has(key: Key): boolean {
    return this.#young.has(key) || this.#old.has(key)
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined || this.#old.size === 0) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.hasForgotten ||= this.#old.size > 0
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: Key): boolean {
    const wasYoung = this.#young.delete(key)
    return this.#old.delete(key) || wasYoung
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
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
