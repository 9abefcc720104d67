// The progress of a long command on a terminal: one line that is written over, and nothing elsewhere.
import { bytesText, counted, durationText } from '../../terminal/amount.js'

export interface WorkDone {
  readonly files: number
  readonly filesDone: number
  readonly bytes: number
  readonly bytesDone: number
  /** More is being found: the sums grow, and the time that is left is not known. */
  readonly isGrowing: boolean
}

/** Milliseconds between two pictures, and over which the rate is taken. */
const drawnEvery = 200
const rateOverMs = 5_000

/** Drawn on standard error until it ends. On what is no terminal nothing is. */
export function drawProgress(work: () => WorkDone) {
  const stream = process.stderr
  if (stream.isTTY !== true) return { clear: () => {}, end: () => {} }
  const rate = openRate()
  let isDrawn = false
  function clear(): void {
    if (isDrawn) stream.write('\r\u001b[K')
    isDrawn = false
  }
  const drawing = setInterval(() => {
    const done = work()
    stream.write(`\r\u001b[K${progressText(done, rate(done.bytesDone)).slice(0, (stream.columns || 80) - 1)}`)
    isDrawn = true
  }, drawnEvery)
  drawing.unref()
  return {
    /** To print something else: the next picture draws it again. */
    clear,
    end(): void {
      clearInterval(drawing)
      clear()
    },
  }
}

function openRate(): (bytes: number) => number {
  const seen: { readonly at: number; readonly bytes: number }[] = []
  return bytes => {
    const at = performance.now()
    seen.push({ at, bytes })
    while (seen.length > 2 && at - (seen[0]?.at ?? at) > rateOverMs) seen.shift()
    const [first] = seen
    return first === undefined || at === first.at ? 0 : (1000 * (bytes - first.bytes)) / (at - first.at)
  }
}

/** `123/4,567 files, 1.2 of 3.4 GB, 45 MB/s, 51.0 s left`. */
function progressText(
  { files, filesDone, bytes, bytesDone, isGrowing }: WorkDone,
  bytesPerSecond: number,
): string {
  const left = isGrowing || bytesPerSecond <= 0 ? undefined : (bytes - bytesDone) / bytesPerSecond
  return [
    `${counted(filesDone)}/${counted(files)}${isGrowing ? '+' : ''} files`,
    `${bytesText(bytesDone)} of ${bytesText(bytes)}${isGrowing ? '+' : ''}`,
    `${bytesText(bytesPerSecond)}/s`,
    ...(left === undefined ? [] : [`${durationText(1000 * left)} left`]),
  ].join(', ')
}
