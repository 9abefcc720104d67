// Finding of one check of `calcfs doctor`, and the command that fixes it.

export interface Finding {
  readonly check: string
  /** `bad`: mounting or using the drive fails. `poor`: it works, but not as well as it could. */
  readonly state: 'good' | 'poor' | 'bad'
  readonly found: string
  /** A line to type, or a thing to do. */
  readonly mend?: string
}

export const good = (check: string, found: string): Finding => ({ check, state: 'good', found })
export const poor = (check: string, found: string, mend: string): Finding => ({
  check,
  state: 'poor',
  found,
  mend,
})
export const bad = (check: string, found: string, mend: string): Finding => ({
  check,
  state: 'bad',
  found,
  mend,
})
