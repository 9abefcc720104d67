// Finding of one check of `calcfs doctor`, and the command that fixes it.
import type { Obstacle } from '../../kernel/obstacles.js'

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

/** Good where nothing is in the way, and then in these words. */
export const unless = (check: string, obstacle: Obstacle | undefined, well: string): Finding =>
  obstacle === undefined ? good(check, well) : bad(check, obstacle.found, obstacle.mend)
