// Ring of the last log lines in memory, so that `calcfs log` shows them wherever the log goes.

export interface LogReader {
  /** The lines after that number that are still kept, the number to ask for next, and the file of the whole log if there is one. */
  after(number: number): { lines: readonly string[]; next: number; file?: string | undefined }
}

export interface LogRing extends LogReader {
  write(line: string): void
}

const linesAtMost = 1_000
/** Characters of a line that are kept; a longer one is a stack or a bug. */
const longestLine = 4_000

/** @param file where the whole log goes; undefined for a terminal or nothing */
export function openLogRing(file: string | undefined): LogRing {
  const lines: string[] = []
  /** The number of the newest line. */
  let newest = 0

  return {
    write(line) {
      lines[newest % linesAtMost] = line.trimEnd().slice(0, longestLine)
      newest += 1
    },
    after(number) {
      const first = Math.max(0, newest - linesAtMost, Math.min(number, newest))
      const found = Array.from({ length: newest - first }, (_, at) => lines[(first + at) % linesAtMost] ?? '')
      return { lines: found, next: newest, file }
    },
  }
}
