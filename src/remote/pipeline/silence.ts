// Silence threshold: a slot is released after four times what the quicker of recent response heads took.

/** What recent answers say about the speed of the service. */
export interface HeadTimes {
  /** A response head came after so many milliseconds. */
  note(milliseconds: number): void
  /** Milliseconds after which a request without a head is unusually slow. */
  readonly unusual: number
  /** Milliseconds that the quicker answers take. */
  readonly usual: number
}

/** The fastest quarter of so many response times is its speed: slow exceptions and bursts change nothing. */
const remembered = 31
const atFirst = 250
const atLeast = 50
/** A slow service is used over more connections rather than not at all. */
const atMost = 1_000

/** Nothing is known yet. */
export function headTimes(): HeadTimes {
  /** In the order in which they came, and sorted. */
  const waits: number[] = []
  const sorted: number[] = []
  let unusual = atFirst
  let usual = 0
  return {
    note(milliseconds) {
      const oldest = waits.length < remembered ? undefined : waits.shift()
      if (oldest !== undefined) sorted.splice(sorted.indexOf(oldest), 1)
      const longer = sorted.findIndex(other => other > milliseconds)
      waits.push(milliseconds)
      sorted.splice(longer < 0 ? sorted.length : longer, 0, milliseconds)
      const quick = sorted[sorted.length >> 2] ?? atFirst
      usual = quick
      unusual = Math.min(atMost, Math.max(atLeast, 4 * quick + 20))
    },
    get unusual() {
      return unusual
    },
    get usual() {
      return usual
    },
  }
}
