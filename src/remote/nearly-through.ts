// Nearly through: whether the rest of a body comes so soon that its connection is not worth taking away.

export interface ArrivingBody {
  /** Milliseconds on the same clock as `now`. */
  readonly headAt: number
  /** In bytes; 0 where the head does not tell. */
  readonly stated: number
  came: number
}

/** Milliseconds that opening a connection takes at least, and bytes that come with the head of an answer. */
const openingMs = 20
const firstPieceBytes = 16 << 10

/**
 * At the pace so far the rest comes within a round trip: as long as the connection takes that would be opened in the place of
 * this one.
 * @param roundTrip milliseconds
 */
export function isNearlyThrough(
  arriving: ArrivingBody | undefined,
  { now, roundTrip }: { readonly now: number; readonly roundTrip: number },
): boolean {
  if (arriving === undefined || arriving.stated === 0) return false
  const { headAt, stated, came } = arriving
  return (stated - came) * (now - headAt) <= (came + firstPieceBytes) * Math.max(openingMs, roundTrip)
}
