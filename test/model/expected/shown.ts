// What the drive may show of something that others change, too: the truth, or what was true within its lifetime.

/** Milliseconds, with the two seconds of the text lease. */
export const lifetimes = { record: 12_000, listing: 32_000, lease: 2_400 } as const

export interface Shown {
  now: string
  /** What was true before, and until when (by the model's clock) it may still be shown; the oldest first. */
  past: readonly { readonly value: string; readonly until: number }[]
}

export const shown = (value: string): Shown => ({ now: value, past: [] })

/** Changed by another client: the drive shows it within the lifetime. */
export function changedElsewhere(one: Shown, value: string, until: number): void {
  if (value === one.now) return
  one.past = [...one.past, { value: one.now, until }]
  one.now = value
}

/** The drive itself has changed it and read it again. */
export function changedHere(one: Shown, value: string): void {
  one.now = value
  one.past = []
}

/** Refreshed on request: an old value is shown for the text lease at most. */
export function refreshed(one: Shown, clock: number): void {
  one.past = one.past.map(({ value, until }) => ({ value, until: Math.min(until, clock + lifetimes.lease) }))
}

/** A text whose size the kernel knows is shown unchanged for a moment. */
export function lent(one: Shown, value: string, clock: number): void {
  if (one.now === value) return
  const known = one.past.findLast(old => old.value === value)
  const until = Math.max(clock + lifetimes.lease, known?.until ?? 0)
  one.past = [...one.past.filter(old => old !== known), { value, until }]
}

/**
 * The drive shows this; what is older than it never comes back.
 * @throws Error where it may not be shown
 */
export function observe(what: string, one: Shown, value: string, at: { clock: number; isUp: boolean }): void {
  if (value === one.now) {
    one.past = []
    return
  }
  const place = one.past.findLastIndex(old => old.value === value && (!at.isUp || old.until > at.clock))
  if (place >= 0) {
    one.past = one.past.slice(place)
    return
  }
  const allowed = [one.now, ...one.past.map(({ value, until }) => `${value} until ${until}`)]
  throw new Error(`${what} shows ${value} at ${at.clock}, and should show ${allowed.join(' or ')}`)
}
