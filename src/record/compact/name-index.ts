// Name index of a list: a table of numbers, because a Map of a hundred thousand names takes ten times the memory.

export type NameIndex = ReturnType<typeof emptyIndex>

/** An index of so many names, which finds none of them until it is put. */
export function emptyIndex(count: number, nameAt: (place: number) => string | undefined) {
  let slots = 4
  while (slots < count * 2) slots *= 2
  const mask = slots - 1
  // A place plus one; 0 is an empty slot.
  const table = new Uint32Array(slots)

  function slotOf(name: string): number {
    let slot = nameHash(name) & mask
    for (;;) {
      const taken = table[slot] ?? 0
      if (taken === 0 || nameAt(taken - 1) === name) return slot
      slot = (slot + 1) & mask
    }
  }

  return {
    /** The place of an equal name, as it was put last; undefined where there is none. */
    find(name: string): number | undefined {
      const taken = table[slotOf(name)] ?? 0
      return taken === 0 ? undefined : taken - 1
    },
    /** From now on an equal name is found here. */
    put(place: number): void {
      table[slotOf(nameAt(place) ?? '')] = place + 1
    },
  }
}

/** An index of these entries by their names; of equal ones the last is found. */
export function nameIndex(entries: readonly { readonly name: string }[]): NameIndex {
  const index = emptyIndex(entries.length, place => entries[place]?.name)
  for (let place = 0; place < entries.length; place += 1) index.put(place)
  return index
}

/** Secret and new for each process: no list of names can be made so that all meet in one slot. */
const seed = Math.floor(Math.random() * 2 ** 32)

/** FNV-1a over UTF-16 units, mixed once more (as MurmurHash3 ends) so that the low bits depend on all. */
function nameHash(name: string): number {
  let hash = 0x811c9dc5 ^ seed
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
