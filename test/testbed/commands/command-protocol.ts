// What a test and the process that carries out its commands say to each other.
import type { Ran } from '../programs.js'

/** One command; its answer carries the same number. */
export interface CommandCall {
  readonly number: number
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface CommandAnswer {
  readonly number: number
  readonly ran: Ran
}
