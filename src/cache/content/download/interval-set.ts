// Interval set: the present bytes of a file as sorted ranges that do not touch.

export interface Interval {
  /** Bytes from the start of the file. */
  readonly start: number
  /** The byte behind the last one. */
  readonly end: number
}

export interface IntervalSet {
  /** How many bytes there are in all. */
  readonly bytes: number
  add(start: number, end: number): void
  /** The first stretch that is missing between the two; undefined if nothing is. */
  firstGap(start: number, end: number): Interval | undefined
  /** Where the bytes that stand at `offset` without a gap end; `offset` itself if there is none. */
  reach(offset: number): number
}

export function openIntervalSet(): IntervalSet {
  const spans: Interval[] = []
  let bytes = 0

  /** The place of the first stretch that ends at this byte or behind it. */
  function placeOf(offset: number): number {
    let low = 0
    let high = spans.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((spans[middle]?.end ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  function reach(offset: number): number {
    const place = placeOf(offset)
    // One that ends here may touch nothing: the next one begins behind a gap.
    const span = spans[place]
    return span !== undefined && span.start <= offset ? span.end : offset
  }

  return {
    get bytes() {
      return bytes
    },
    add(start, end) {
      if (end <= start) return
      const place = placeOf(start)
      const merged = { start, end }
      let behind = place
      for (let span = spans[behind]; span !== undefined && span.start <= merged.end; span = spans[behind]) {
        merged.start = Math.min(merged.start, span.start)
        merged.end = Math.max(merged.end, span.end)
        bytes -= span.end - span.start
        behind += 1
      }
      spans.splice(place, behind - place, merged)
      bytes += merged.end - merged.start
    },
    firstGap(start, end) {
      const from = reach(start)
      if (from >= end) return undefined
      const next = spans[placeOf(from + 1)]
      return { start: from, end: next === undefined ? end : Math.min(end, next.start) }
    },
    reach,
  }
}
