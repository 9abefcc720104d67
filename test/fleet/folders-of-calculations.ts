// A tree of drawn size for a fleet: one folder for each mount, with small calculations in it.
import type { Seed } from '../../src/service/seed.js'
import { cml } from '../testbed/sample-data.js'

/** `F0`, `F1`, … each with `c0`, `c1`, … */
export const fillFolders =
  ({ folders, calculations }: { readonly folders: number; readonly calculations: number }) =>
  (seed: Seed): void => {
    seed.addUser({ name: 'demo', password: 'demo' })
    for (let folder = 0; folder < folders; folder += 1) {
      const project = String(1_000 + folder)
      seed.addProject({ id: project, name: `F${folder}`, owner: 'demo' })
      for (let at = 0; at < calculations; at += 1) {
        const files = { 'output.cml': cml, 'run.log': `run ${folder} ${at}\n` }
        seed.addCalculation({ id: String(100_000 + folder * 1_000 + at), name: `c${at}`, project, files })
      }
    }
  }
