// Nearest known name to a mistyped one, for messages.

/** The known name that needs the fewest changed letters; undefined where none is near. */
function nearestName(written: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map(name => ({ name, distance: distance(written, name) }))
    .sort((a, b) => a.distance - b.distance)
  // Of a short name two other letters are another name.
  const limit = Math.min(Math.max(2, written.length / 3), written.length / 2)
  return best !== undefined && best.distance <= limit ? best.name : undefined
}

/** `; the nearest is 'ttl-listing'`, or nothing where no name is near: for the end of a sentence. `shown` is how the name is typed. */
export function nearestPhrase(
  written: string,
  known: readonly string[],
  shown = (name: string): string => name,
): string {
  const near = nearestName(written, known)
  return near === undefined ? '' : `; the nearest is '${shown(near)}'`
}

/** Levenshtein distance: how many letters must be inserted, deleted or changed. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...to].entries()) {
      const [diagonal = 0, above = 0] = row.slice(column, column + 2)
      const left = next.at(-1) ?? 0
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
