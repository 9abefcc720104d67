// What a figure of trust is: random cases of one kind, tried for as long as there is time, and counted.

export interface Figure {
  /** One word, as `--only` takes it. */
  readonly name: string
  /** What has to be reached, in the words of docs/reliability.md. */
  readonly goal: string
  /** Counts that a run of a night has to reach. */
  readonly least?: Readonly<Record<string, number>>
  run(frame: Frame): Promise<Result>
}

export interface Frame {
  /** Every random choice comes from it. */
  readonly seed: number
  /** `cut` is the few seconds that `npm test` has for each figure. */
  readonly scale: 'cut' | 'full'
  /** No new case begins after this time (milliseconds since 1970). */
  readonly until: number
  /** Shows progress. */
  say(line: string): void
}

export interface Result {
  /** What was tried and seen. */
  readonly counts: Readonly<Record<string, number>>
  /** Each violation in words, with what replays it. */
  readonly wrong: readonly string[]
  /** Which part of the goal was not reached in full, although nothing went wrong. */
  readonly short?: string
}
