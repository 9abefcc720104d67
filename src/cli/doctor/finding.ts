// Finding of one check of `calcfs doctor`, and the command that fixes it.

export interface Finding {
  readonly check: string
  /** `bad`: mounting or using the drive fails. `poor`: it works, but not as well as it could. */
  readonly state: 'good' | 'poor' | 'bad'
  readonly found: string
  readonly mend: string | undefined
}

const finding =
  (state: Finding['state']) =>
  (check: string, found: string, mend?: string): Finding => ({ check, state, found, mend })

export const [good, poor, bad] = [finding('good'), finding('poor'), finding('bad')]
