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

/** The same name, or the same in another spelling; true where one of them is not told. */
export function isSameName(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other || isSpelling(one, other)
}
