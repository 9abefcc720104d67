// The list of all figures, in the order of the table in docs/reliability.md.
import type { Figure } from './figure.js'
import { damage } from './figures/damage.js'
import { faultsOverEdits } from './figures/faults.js'
import { fsx } from './figures/fsx.js'
import { hostile } from './figures/hostile.js'
import { kills } from './figures/kills.js'
import { metadata } from './figures/metadata.js'
import { model } from './figures/model.js'
import { mutants } from './figures/mutants.js'
import { names } from './figures/names.js'
import { races } from './figures/races.js'
import { repeats } from './figures/repeats.js'
import { signals } from './figures/signals.js'
import { soak } from './figures/soak.js'
import { storm } from './figures/storm.js'

/** Those of which `npm test` runs a cut. Of the others files of their own try a part a day; mutants are about the tests, and a matter of the night. */
export const cutFigures: readonly Figure[] = [
  // One in a line, so that two new ones do not meet.
  hostile,
  metadata,
  faultsOverEdits,
  races,
  names,
  damage,
  soak,
  signals,
  storm,
]

export const figures: readonly Figure[] = [
  // In the order of the table.
  hostile,
  metadata,
  kills,
  faultsOverEdits,
  races,
  model,
  fsx,
  names,
  damage,
  soak,
  signals,
  storm,
  mutants,
  repeats,
]
