// Spelling of names: a platform may replace blanks by underscores, or drop signs.

/** True if two names differ only in blanks, case and signs. */
export function isSpelling(one: string, other: string): boolean {
  return bareName(one) === bareName(other) && bareName(one) !== ''
}

/** The common part of all spellings of a name: its letters and digits; nothing of a name that has none. */
const bareName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()

/** The same name, or the same in another spelling; true where one of them is unknown. */
export function isSameName(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other || isSpelling(one, other)
}
