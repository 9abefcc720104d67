// The list of all figures, in the order of the table in docs/reliability.md.
import type { Figure } from './engine.js'
import { damage } from './figures/damage.js'
import { faultsOverEdits } from './figures/faults.js'
import { fsx } from './figures/fsx.js'
import { hostile } from './figures/hostile.js'
import { kills } from './figures/kills.js'
import { model } from './figures/model.js'
import { mutants } from './figures/mutants.js'
import { races } from './figures/races.js'
import { repeats } from './figures/repeats.js'
import { signals } from './figures/signals.js'
import { soak } from './figures/soak.js'

/** Those of which `npm test` runs a cut. Of the others files of their own try a part a day; mutants are about the tests, and a matter of the night. */
export const cutFigures: readonly Figure[] = [
  // One in a line, so that two new ones do not meet.
  hostile,
  kills,
  faultsOverEdits,
  races,
  fsx,
  damage,
  soak,
  signals,
]

export const figures: readonly Figure[] = [
  // In the order of the table.
  hostile,
  kills,
  faultsOverEdits,
  races,
  model,
  fsx,
  damage,
  soak,
  signals,
  mutants,
  repeats,
]
