// Readahead window: small after a single read, growing while reads are sequential.

export interface ReadaheadWindow {
  /** Notes a read, in bytes from the start; how many bytes behind its end are worth having soon. */
  ahead(start: number, end: number): number
}

interface SequentialRun {
  readonly start: number
  end: number
}

/** A read of the beginning of a file is often followed by others; a read elsewhere often wants a few bytes. */
const firstAtStart = 1 << 20
const firstElsewhere = 128 << 10
const mostAhead = 64 << 20
const growth = 8
/** The kernel reads ahead by several requests that may come out of order. */
const slack = 256 << 10
const runsAtMost = 16

export function openReadaheadWindow(): ReadaheadWindow {
  const runs: SequentialRun[] = []

  /** The longest that this read continues. */
  function runOf(start: number): SequentialRun | undefined {
    let longest: SequentialRun | undefined
    for (const run of runs) {
      if (start < run.start || start > run.end + slack) continue
      if (longest === undefined || run.end - run.start > longest.end - longest.start) longest = run
    }
    return longest
  }

  return {
    ahead(start, end) {
      let run = runOf(start)
      if (run === undefined) {
        run = { start, end }
        if (runs.length >= runsAtMost) runs.shift()
        runs.push(run)
      }
      run.end = Math.max(run.end, end)
      const first = run.start === 0 ? firstAtStart : firstElsewhere
      return Math.min(mostAhead, Math.max(first, growth * (run.end - run.start)))
    },
  }
}
