// Census of slots: how many count against the limit, by who waits for them and by class of traffic, in one look at each.

export interface SlotCensus {
  readonly all: number
  /** Of one class of traffic. */
  readonly ofKind: number
  /** Those that a user waits for. */
  readonly users: number
  readonly usersOfKind: number
  /** Those that were cancelled for others before. */
  readonly yielded: number
}

interface CountedSlot {
  /** Only `active` counts. */
  readonly state: string
  readonly background: boolean
  readonly yielded: boolean
  readonly entrant: { readonly weight: string }
}

/** Runs for every request, and makes nothing but its answer. */
export function censusOf(slots: Iterable<CountedSlot>, weight?: string): SlotCensus {
  const count = { all: 0, ofKind: 0, users: 0, usersOfKind: 0, yielded: 0 }
  for (const { state, background, yielded, entrant } of slots) {
    if (state !== 'active') continue
    const isOfKind = entrant.weight === weight
    count.all += 1
    if (isOfKind) count.ofKind += 1
    if (yielded) count.yielded += 1
    if (background) continue
    count.users += 1
    if (isOfKind) count.usersOfKind += 1
  }
  return count
}
