// Row matching: which old row a written one continues, because a calculation may stand twice, each time with its own title.

interface MatchedRow {
  readonly calculation: string | undefined
  readonly title: string | undefined
}

/**
 * For each row the index of the old row that it continues: among those of its calculation the one in its place if that
 * has its title, else one with its title, else the first that is left; undefined for a row that is new.
 */
export function continuedRows(
  rows: readonly MatchedRow[],
  old: readonly MatchedRow[],
): readonly (number | undefined)[] {
  const left = new Set(old.keys())
  const found = new Map<number, number>()
  const pair = (fits: (row: MatchedRow, at: number, candidate: number) => boolean) => {
    for (const [at, row] of rows.entries()) {
      if (found.has(at)) continue
      const own = byCalculation.get(row.calculation)
      const continued = own?.find(candidate => left.has(candidate) && fits(row, at, candidate))
      if (continued === undefined) continue
      left.delete(continued)
      found.set(at, continued)
    }
  }
  const byCalculation = indexed(old)
  const times = countedWithin(rows)
  const oldTimes = countedWithin(old)
  const hasTitle = (row: MatchedRow, candidate: number) => old[candidate]?.title === row.title
  pair((row, at, candidate) => times[at] === oldTimes[candidate] && hasTitle(row, candidate))
  pair((row, _at, candidate) => hasTitle(row, candidate))
  pair(() => true)
  return rows.map((_, at) => found.get(at))
}

function indexed(rows: readonly MatchedRow[]): ReadonlyMap<string | undefined, readonly number[]> {
  const places = new Map<string | undefined, number[]>()
  for (const [at, { calculation }] of rows.entries()) {
    const known = places.get(calculation)
    if (known === undefined) places.set(calculation, [at])
    else known.push(at)
  }
  return places
}

function countedWithin(rows: readonly MatchedRow[]): readonly number[] {
  const counts = new Map<string | undefined, number>()
  return rows.map(({ calculation }) => {
    const before = counts.get(calculation) ?? 0
    counts.set(calculation, before + 1)
    return before
  })
}
