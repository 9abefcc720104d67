// Random days on the drive against a plain model: after each step the drive and the service's database are what it says.
import t from 'tap'
import { played } from './played.js'

const sequences = Number(process.env['CALCFS_MODEL_RUNS'] ?? 2)
const seed = Number(process.env['CALCFS_MODEL_SEED'] ?? 20_261_121)
const length = 50
/** Sequences on one ground: a folder of reports must not grow without end. */
const onOneGround = Math.max(1, Math.min(10, Math.ceil(sequences / 2)))
t.setTimeout(570_000)
t.jobs = 2

for (let from = 0; from < sequences; from += onOneGround) {
  const runs = Math.min(onOneGround, sequences - from)
  // Of each four grounds three may delete; of two, one.
  const access = (from / onOneGround) % Math.min(4, sequences / onOneGround) === 1 ? 'edit' : 'manage'
  t.test(
    `the drive and the service do what a plain model does (${access}, CALCFS_MODEL_SEED=${seed + from})`,
    { timeout: 3_600_000 },
    async t => {
      const job = { access, runs, length, seed: seed + from } as const
      t.same(await played(job), { sequences: runs, steps: runs * length })
    },
  )
}
