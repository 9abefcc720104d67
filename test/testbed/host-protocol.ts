// What a test and the process that hosts its drives say to each other.

/** One piece of work; its answer carries the same number. */
export interface HostCall {
  readonly number: number
  readonly work: HostWork
}

export type HostWork =
  | {
      readonly verb: 'mount'
      readonly directory: string
      readonly flags: Readonly<Record<string, string | readonly string[]>>
      readonly environment: Readonly<Record<string, string>>
    }
  | { readonly verb: 'end'; readonly directory: string }
  | { readonly verb: 'pass'; readonly directory: string; readonly milliseconds: number }
  /** Answered with where the work of this directory has come to. */
  | { readonly verb: 'stage'; readonly directory: string }

export interface HostAnswer {
  readonly number: number
  readonly failed?: string
  readonly stage?: string
}
