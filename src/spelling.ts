// One name in two spellings: a platform may make underscores of blanks, or drop signs.

/** True if two names are one but for blanks, case and signs. */
export function isSpelling(one: string, other: string): boolean {
  const bare = (name: string) =>
    name
      .normalize('NFKD')
      .replace(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase()
  return bare(one) === bare(other) && bare(one) !== ''
}
