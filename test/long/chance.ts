// Random choices that a seed repeats.

export interface Chance {
  /** A fraction of one, below one. */
  fraction(): number
  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number
  of<Item>(items: readonly Item[]): Item
  /** True once in so many times. */
  once(inTimes: number): boolean
  /** Letters and digits. */
  word(least: number, most: number): string
  shuffled<Item>(items: readonly Item[]): Item[]
  bytes(length: number): Buffer
  /** Choices of its own, which further ones of this do not disturb. */
  branch(): Chance
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Mulberry32: small, and good enough to spread cases. */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const fraction = (): number => next() / 2 ** 32
  const whole = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1))
  function of<Item>(items: readonly Item[]): Item {
    const item = items[whole(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to choose from')
    return item
  }
  return {
    fraction,
    whole,
    of,
    once: inTimes => whole(1, inTimes) === 1,
    word: (least, most) =>
      Array.from({ length: whole(least, most) }, () => letters[whole(0, letters.length - 1)]).join(''),
    shuffled(items) {
      const keyed = items.map(item => ({ item, key: next() }))
      return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
    },
    bytes(length) {
      const bytes = Buffer.alloc(length)
      for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(next(), at)
      for (let at = length & ~3; at < length; at += 1) bytes[at] = next() & 0xff
      return bytes
    },
    branch: () => chance(next()),
  }
}
