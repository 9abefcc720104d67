// Read pattern: how much behind a read is worth having soon, told by the reads of one content so far.

/** The bytes fetched for a look at the beginning: more than any program needs to tell what kind of file it is. */
const headBytes = 256 << 10
/** A copying program makes the kernel ask for this much in one read, the most that it asks for. */
const copiedAtOnce = 128 << 10
/** Programs that tell kinds of files apart read 20 KiB at most; the kernel makes 48 KiB of that. */
const lookedAtMost = 64 << 10
/** A read of the beginning of a file is often followed by others; a read elsewhere often wants a few bytes. */
const firstAtStart = 1 << 20
const firstElsewhere = 128 << 10
const mostAhead = 64 << 20
const growth = 8
/** The kernel reads ahead by several requests that may come out of order. */
const slack = 256 << 10
const runsAtMost = 16

/** Reads that follow one another. */
interface SequentialRun {
  readonly start: number
  end: number
}

export class ReadPattern {
  private readonly runs: SequentialRun[] = []
  private looks = false
  private readsOn = false

  /** Nothing but short reads of the beginning so far. */
  get isHeadOnly(): boolean {
    return this.looks && !this.readsOn
  }

  /** Notes a read, in bytes from the start; how many bytes behind its end are worth having soon. */
  ahead(start: number, end: number): number {
    this.look(start, end)
    let run = this.runOf(start)
    if (run === undefined) {
      run = { start, end }
      if (this.runs.length >= runsAtMost) this.runs.shift()
      this.runs.push(run)
    }
    run.end = Math.max(run.end, end)
    if (this.isHeadOnly) return headBytes
    const first = run.start === 0 ? firstAtStart : firstElsewhere
    return Math.min(mostAhead, Math.max(first, growth * (run.end - run.start)))
  }

  private look(start: number, end: number): void {
    if (this.readsOn || end <= start) return
    this.readsOn = start > lookedAtMost || end - start >= copiedAtOnce || (end > lookedAtMost && this.looks)
    this.looks ||= start === 0
  }

  /** The longest that this read continues. */
  private runOf(start: number): SequentialRun | undefined {
    let longest: SequentialRun | undefined
    for (const run of this.runs) {
      if (start < run.start || start > run.end + slack) continue
      if (longest === undefined || run.end - run.start > longest.end - longest.start) longest = run
    }
    return longest
  }
}
