// Seldom: what is said again and again is said once a minute, with how often it was so; what holds in the end is said.

export type Say = (sentence: string, about?: Record<string, unknown>) => void

export interface SeldomClock {
  now(): number
  after(milliseconds: number, action: () => void, how: 'in-background'): unknown
}

/** Milliseconds between two lines that differ in numbers only. */
const everyMs = 60_000
/** Different lines that are remembered. */
const atMost = 100

interface Line {
  /** Lines of one sentence and one `why` are the same. */
  readonly what: string
  readonly sentence: string
  readonly about: Record<string, unknown>
}

/** `before` in a line is how often it was left unsaid. */
export function seldom(say: Say, clock: SeldomClock): Say {
  const known = new Map<string, { readonly at: number; unsaid: number }>()
  let lastSaid = ''
  let isWaiting = false
  let latest: Line | undefined

  function tell(line: Line): void {
    latest = line
    const { what, sentence, about } = line
    const before = known.get(what)
    const left = before === undefined ? 0 : before.at + everyMs - clock.now()
    if (before !== undefined && left > 0) {
      before.unsaid += 1
      wait(left)
      return
    }
    known.delete(what)
    const [oldest] = known.keys()
    if (known.size >= atMost && oldest !== undefined) known.delete(oldest)
    known.set(what, { at: clock.now(), unsaid: 0 })
    lastSaid = what
    say(sentence, before === undefined || before.unsaid === 0 ? about : { ...about, before: before.unsaid })
  }

  /** The last line of all may be an unsaid one, and the log would end with what holds no longer. */
  function wait(milliseconds: number): void {
    if (isWaiting) return
    isWaiting = true
    clock.after(
      milliseconds,
      () => {
        isWaiting = false
        if (latest !== undefined && latest.what !== lastSaid) tell(latest)
      },
      'in-background',
    )
  }

  return (sentence, about = {}) =>
    tell({ what: `${sentence} ${String(about['why'] ?? '')}`.replace(/\d+/g, '#'), sentence, about })
}
