// Marks: what one walker has done with the folders of a directory, one byte each.
import type { ListedDirectory } from './listed-directory.js'

/** Entered; a folder in it was entered; listed ahead, or about to be; nothing in it is left to list. */
export type Mark = 'entered' | 'passed' | 'foreseen' | 'exhausted'

const bits: Readonly<Record<Mark, number>> = { entered: 1, passed: 2, foreseen: 4, exhausted: 8 }

export interface Marks {
  has(place: number, mark: Mark): boolean
  /** Entered, or one in it was. */
  wasIn(place: number): boolean
  set(place: number, mark: Mark): void
  /** It is not expected any more, and may be listed ahead again. */
  unforesee(place: number): void
  /** How many have this mark. */
  count(mark: 'entered' | 'passed'): number
  /** The first place from which on there are some that are not exhausted. */
  firstLeft(): number
  /** The same so far, for another walker. */
  copy(): Marks
}

export const openMarks = (folder: ListedDirectory): Marks =>
  marksFrom(new Uint8Array(folder.folders.length), { entered: 0, passed: 0 })

function marksFrom(flags: Uint8Array, counts: Record<'entered' | 'passed', number>): Marks {
  let first = 0
  const has = (place: number, mark: Mark): boolean => ((flags[place] ?? 0) & bits[mark]) !== 0

  return {
    has,
    wasIn: place => ((flags[place] ?? 0) & (bits.entered | bits.passed)) !== 0,
    set(place, mark) {
      if (has(place, mark)) return
      flags[place] = (flags[place] ?? 0) | bits[mark]
      if (mark === 'entered' || mark === 'passed') counts[mark] += 1
    },
    unforesee(place) {
      flags[place] = (flags[place] ?? 0) & ~(bits.foreseen | bits.exhausted)
      first = Math.min(first, place)
    },
    count: mark => counts[mark],
    firstLeft() {
      while (first < flags.length && has(first, 'exhausted')) first += 1
      return first
    },
    copy: () => marksFrom(flags.slice(), { ...counts }),
  }
}
