// fsx: random reads, writes and cuts on a scratch file and on a draft, each byte as on a local disk.
import { fsxBatch, operationsIn } from '../../model/fsx/fsx.js'
import { realMount } from '../../testbed/mount.js'
import { chance } from '../chance.js'
import type { Figure, Frame, Result } from '../figure.js'
import { scoped } from '../scope.js'

const operations = 50_000
/** Milliseconds that one batch may take. */
const limit = 1_800_000

async function run({ seed, until, say }: Frame): Promise<Result> {
  const pick = chance(seed)
  const counts = { operations: 0, batches: 0 }
  const wrong: string[] = []
  await scoped(async scope => {
    const testbed = await realMount(scope, { settings: { logLevel: 'info' } })
    while (Date.now() < until && wrong.length === 0) {
      const kind = counts.batches % 2 === 0 ? 'scratch' : 'draft'
      const job = { seed: pick.whole(1, 2 ** 31 - 1), operations, limit }
      try {
        counts.operations += operationsIn(await fsxBatch(testbed, kind, job))
        counts.batches += 1
        say(`${counts.operations} operations`)
      } catch (thrown) {
        wrong.push(`${kind}: ${thrown}`)
      }
    }
  })
  return { counts, wrong }
}

export const fsx: Figure = {
  name: 'fsx',
  goal: 'fsx, 5 × 50,000 operations: every byte and every size as on a local disk',
  least: { batches: 5, operations: 250_000 },
  run,
}
