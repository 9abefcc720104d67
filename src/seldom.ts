// Seldom: what is said again and again is said once a minute, with how often it was so; what holds in the end is said.

export type Say = (sentence: string, about?: Record<string, unknown>) => void

export interface SeldomClock {
  now(): number
  after(milliseconds: number, action: () => void, how: 'in-background'): unknown
}

/** Milliseconds after the first line in which the same is not said again. */
const everyMs = 60_000
/** Different lines in that time; what is said beyond that is only counted. */
const atMost = 100

interface Line {
  /** How often it was left unsaid, and the latest of these. */
  unsaid: number
  sentence: string
  about: Record<string, unknown>
}

/**
 * A line is said at once; after a minute the latest one that was left unsaid follows, with `and N more in the last minute`,
 * and `more` for programs. Lines of one sentence and one `why` are the same; `how` tells lines of another kind apart, such as
 * those of another level.
 */
export function seldom(
  say: Say,
  clock: SeldomClock,
): (sentence: string, about?: Line['about'], how?: string) => void {
  /** Said in this minute, in the order in which they were meant to be said last. */
  const known = new Map<string, Line>()
  let others = 0
  let isWaiting = false

  function tell(sentence: string, about: Line['about'], how: string): void {
    const what = keyOf(sentence, about, how)
    const before = known.get(what)
    if (before !== undefined) {
      known.delete(what)
      known.set(what, { unsaid: before.unsaid + 1, sentence, about })
    } else if (known.size < atMost) {
      known.set(what, { unsaid: 0, sentence, about })
      say(sentence, about)
    } else others += 1
    wait()
  }

  /** The end of a minute: what was left unsaid last is said last, for it is what holds. */
  function sum(): void {
    const unsaid = [...known].filter(([, line]) => line.unsaid > 0)
    known.clear()
    for (const [what, { sentence, about, unsaid: times }] of unsaid) {
      known.set(what, { unsaid: 0, sentence, about })
      if (times === 1) say(sentence, about)
      else say(`${sentence} (and ${times - 1} more in the last minute)`, { ...about, more: times - 1 })
    }
    if (others > 0) say(`${others} more lines of other causes in the last minute`, { more: others })
    others = 0
  }

  function wait(): void {
    if (isWaiting || known.size === 0) return
    isWaiting = true
    const over = (): void => {
      isWaiting = false
      sum()
      wait()
    }
    clock.after(everyMs, over, 'in-background')
  }

  return (sentence, about = {}, how = '') => tell(sentence, about, how)
}

/** Numbers and paths are what differs between two lines of one cause. */
const keyOf = (sentence: string, about: Line['about'], how: string): string =>
  `${how} ${sentence} ${String(about['why'] ?? '')}`.replace(/\/[^\s:;,()]*/g, '/').replace(/\d+/g, '#')
