// Distance between two orders of calculations: added and removed rows count before moved ones.

/** 0 for the same order; rows that came or went weigh more than any number of moves. */
export function orderDistance(one: readonly string[], other: readonly string[]): number {
  const before = numbered(one)
  const after = numbered(other)
  const places = new Map(before.map((row, place) => [row, place]))
  const kept = after.flatMap(row => places.get(row) ?? [])
  const cameAndWent = before.length + after.length - 2 * kept.length
  return cameAndWent * (before.length + after.length + 1) + kept.length - longestRun(kept)
}

/** A calculation may stand twice: each time it is a row of its own. */
function numbered(order: readonly string[]): string[] {
  const times = new Map<string, number>()
  return order.map(id => {
    const time = (times.get(id) ?? 0) + 1
    times.set(id, time)
    return `${id} ${time}`
  })
}

/** The length of the longest growing part of a sequence: what is left where it is when the rest is moved. */
function longestRun(places: readonly number[]): number {
  // ends[n] is the smallest place in which a run of n + 1 can end.
  const ends: number[] = []
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    ends[low] = place
  }
  return ends.length
}
