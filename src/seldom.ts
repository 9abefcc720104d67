// Seldom: what is said again and again is said once a minute, with how often it was so; what holds in the end is said.

export type Say = (sentence: string, about?: Record<string, unknown>) => void

export interface SeldomClock {
  now(): number
  after(milliseconds: number, action: () => void, how: 'in-background'): unknown
}

/** Milliseconds after the first line in which the same is not said again. */
const everyMs = 60_000

interface Line {
  /** How often it was left unsaid, and the latest of these. */
  readonly unsaid: number
  readonly sentence: string
  readonly about: Record<string, unknown>
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
  /** Said in this minute, the latest last: what holds in the end is said last. */
  let lines = new Map<string, Line>()

  function sum(): void {
    const unsaid = [...lines].filter(([, line]) => line.unsaid > 0)
    lines = new Map(unsaid.map(([what, line]) => [what, { ...line, unsaid: 0 }]))
    for (const [, { sentence, about, unsaid: times }] of unsaid)
      if (times === 1) say(sentence, about)
      else say(`${sentence} (and ${times - 1} more in the last minute)`, { ...about, more: times - 1 })
    if (lines.size > 0) clock.after(everyMs, sum, 'in-background')
  }

  return (sentence, about = {}, how = '') => {
    const what = keyOf(sentence, about, how)
    const before = lines.get(what)
    if (lines.size === 0) clock.after(everyMs, sum, 'in-background')
    lines.delete(what)
    lines.set(what, { unsaid: before === undefined ? 0 : before.unsaid + 1, sentence, about })
    if (before === undefined) say(sentence, about)
  }
}

/** Numbers and paths are what differs between two lines of one cause. */
const keyOf = (sentence: string, about: Line['about'], how: string): string =>
  `${how} ${sentence} ${String(about['why'] ?? '')}`.replace(/\/[^\s:;,()]*/g, '/').replace(/\d+/g, '#')
