// Field table of a long object: positions of its fields in the text, so that no tree of hundreds of thousands is built.
import { type ScanState, signAt, valueEnd } from './skim.js'

const [backslash, comma, colon] = [0x5c, 0x2c, 0x3a]
const [openList, closeObject] = [0x5b, 0x7d]

export interface FieldTable {
  readonly count: number
  /** The field of this place. */
  at(place: number): { readonly name: string; readonly rawName: string; readonly valueStart: number }
  /** The places of the fields of this name, in order. */
  find(name: string): readonly number[]
  /** The places of the fields that hold a list. */
  lists(): readonly number[]
}

/** The table of an object that is the whole of this text, which is JSON. */
export function fieldTable(source: Buffer): FieldTable {
  const starts = growing()
  const hashes = growing()
  for (const walk: ScanState = { bytes: source, at: 1 }; signAt(walk) !== closeObject; ) {
    if (signAt(walk) === comma) {
      walk.at += 1
      continue
    }
    const start = walk.at
    const end = valueEnd(source, start)
    starts.push(start)
    hashes.push(hashOfName(source, start, end))
    walk.at = end
    walk.at = valueEnd(source, valueAfter(source, walk))
  }

  function isCalled(start: number, { name, bytes }: { name: string; bytes: Buffer }): boolean {
    const end = valueEnd(source, start)
    const raw = source.subarray(start + 1, end - 1)
    return raw.includes(backslash)
      ? storedName(source.toString('utf8', start, end)) === name
      : raw.equals(bytes)
  }

  function at(place: number) {
    const start = starts.at(place)
    const end = valueEnd(source, start)
    const rawName = source.toString('utf8', start, end)
    return { name: storedName(rawName), rawName, valueStart: valueAfter(source, { bytes: source, at: end }) }
  }

  // A look at a few names takes no memory; a search for all of them is indexed.
  let searches = 0
  let chains: ReturnType<typeof chained> | undefined
  function searched() {
    searches += 1
    if (searches > searchesInOrder) chains ??= chained(hashes)
    return chains ?? hashes
  }

  return {
    count: starts.length,
    at,
    find(name) {
      const bytes = Buffer.from(name)
      const hash = hashBetween(bytes, 0, bytes.length)
      const places: number[] = []
      const among = searched()
      for (let place = among.find(hash); place >= 0; place = among.next(hash, place))
        if (isCalled(starts.at(place), { name, bytes })) places.push(place)
      return places
    },
    lists() {
      const places: number[] = []
      for (let place = 0; place < starts.length; place += 1) {
        const end = valueEnd(source, starts.at(place))
        if (source[valueAfter(source, { bytes: source, at: end })] === openList) places.push(place)
      }
      return places
    },
  }
}

/** Where the value of a name begins that ends here. */
function valueAfter(source: Buffer, walk: ScanState): number {
  if (signAt(walk) !== colon) throw new Error('a JSON name is followed by a colon')
  const behind: ScanState = { bytes: source, at: walk.at + 1 }
  signAt(behind)
  return behind.at
}

const storedName = (rawName: string): string =>
  rawName.includes('\\') ? String(JSON.parse(rawName)) : rawName.slice(1, -1)

/** Of a name with its quotes. */
function hashOfName(source: Buffer, start: number, end: number): number {
  for (let at = start + 1; at < end - 1; at += 1) {
    if (source[at] !== backslash) continue
    const name = Buffer.from(storedName(source.toString('utf8', start, end)))
    return hashBetween(name, 0, name.length)
  }
  return hashBetween(source, start + 1, end - 1)
}

/** FNV-1a. */
function hashBetween(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return hash >>> 0
}

/** So many searches pass over all numbers; then those that may be equal are chained. */
const searchesInOrder = 64

/** Finds these numbers without passing over the others, in about ten bytes for each. */
function chained(numbers: { readonly length: number; at(place: number): number }) {
  let slots = 64
  while (slots < numbers.length) slots *= 2
  // Places plus one; 0 ends a chain.
  const heads = new Uint32Array(slots)
  const followers = new Uint32Array(numbers.length)
  for (let place = numbers.length - 1; place >= 0; place -= 1) {
    const slot = numbers.at(place) & (slots - 1)
    followers[place] = heads[slot] ?? 0
    heads[slot] = place + 1
  }
  function along(number: number, first: number): number {
    let place = first - 1
    while (place >= 0 && numbers.at(place) !== number) place = (followers[place] ?? 0) - 1
    return place
  }

  return {
    find: (number: number): number => along(number, heads[number & (slots - 1)] ?? 0),
    next: (number: number, place: number): number => along(number, followers[place] ?? 0),
  }
}

/** Whole numbers below 2^32, in four bytes each. */
function growing() {
  let numbers = new Uint32Array(64)
  let length = 0
  function from(number: number, start: number): number {
    const found = numbers.indexOf(number, start)
    return found < length ? found : -1
  }

  return {
    get length() {
      return length
    },
    at: (place: number): number => numbers[place] ?? 0,
    /** The first place of the number, and the one behind this place; -1 where there is none. */
    find: (number: number): number => from(number, 0),
    next: (number: number, place: number): number => from(number, place + 1),
    push(number: number): void {
      if (length === numbers.length) {
        const more = new Uint32Array(2 * length)
        more.set(numbers)
        numbers = more
      }
      numbers[length] = number
      length += 1
    },
  }
}
