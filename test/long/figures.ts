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

/** Those of which `npm test` runs a cut. */
export const cutFigures = [hostile, kills, faultsOverEdits, races, model, fsx, damage, soak, signals]

/** Mutants are about the tests, and a matter of the night; `npm test` runs the files of repeats by themselves. */
export const figures: readonly Figure[] = [...cutFigures, mutants, repeats]
