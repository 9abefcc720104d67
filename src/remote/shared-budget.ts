// Shared budget: the limits of a service's use that several processes have in common, as one of them sees them.

/** What several processes have in common. */
export interface SharedBudget {
  /** How many requests this process may have in flight now; may be none for a moment. */
  readonly allowed: number
  /** So many are in flight, and so many more wait. */
  wanted(inFlight: number, waiting: number): void
  /** Reserves the next turn to send, `spacing` milliseconds after the one before; how many milliseconds it is ahead. */
  turn(spacing: number): Promise<number>
  /** The service is overloaded: all of them slow down. */
  pushedBack(): void
}
