// Interval set: the present bytes of a file as sorted ranges that do not touch.

interface Interval {
  /** Bytes from the start of the file. */
  readonly start: number
  /** The byte behind the last one. */
  readonly end: number
}

export class IntervalSet {
  bytes = 0
  readonly #spans: Interval[] = []

  add(start: number, end: number): void {
    if (end <= start) return
    const place = this.#placeOf(start)
    const merged = { start, end }
    let behind = place
    for (let span = this.#spans[behind]; span !== undefined && span.start <= merged.end; ) {
      merged.start = Math.min(merged.start, span.start)
      merged.end = Math.max(merged.end, span.end)
      this.bytes -= span.end - span.start
      behind += 1
      span = this.#spans[behind]
    }
    this.#spans.splice(place, behind - place, merged)
    this.bytes += merged.end - merged.start
  }

  /** The first stretch that is missing between the two; undefined if nothing is. */
  firstGap(start: number, end: number): Interval | undefined {
    const from = this.reach(start)
    if (from >= end) return undefined
    const next = this.#spans[this.#placeOf(from + 1)]
    return { start: from, end: next === undefined ? end : Math.min(end, next.start) }
  }

  /** Where the bytes that stand at `offset` without a gap end; `offset` itself if there is none. */
  reach(offset: number): number {
    // One that ends here may touch nothing: the next one begins behind a gap.
    const span = this.#spans[this.#placeOf(offset)]
    return span !== undefined && span.start <= offset ? span.end : offset
  }

  /** The place of the first stretch that ends at this byte or behind it. */
  #placeOf(offset: number): number {
    let low = 0
    let high = this.#spans.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#spans[middle]?.end ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
