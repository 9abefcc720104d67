// Random days on the drive against a plain model: after each step the drive and the service's database are what it says.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { printed } from '../ground/programs.js'
import { regressions } from './regressions.js'
import type { Play, Played } from './sequences-child.js'

const child = fileURLToPath(new URL('sequences-child.js', import.meta.url))
const sequences = Number(process.env['CALCFS_MODEL_RUNS'] ?? 200)
const seed = Number(process.env['CALCFS_MODEL_SEED'] ?? 20_261_121)
const length = 50
/** Sequences on one ground: a folder of reports must not grow without end. */
const onOneGround = 25
/** What must be safe on disk is proved by kills; here a file system in memory saves the time. */
const environment: Record<string, string> = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}

async function played(job: Play): Promise<Played> {
  // A failure's stack is worth little here, and costs a tenth of the time.
  const args = ['--max-semi-space-size=64', '--stack-trace-limit=3', child, JSON.stringify(job)]
  return JSON.parse(await printed(process.execPath, args, { limit: 3_600_000, environment }))
}

t.setTimeout(3_600_000)
t.jobs = 2

for (const access of ['manage', 'edit'] as const) {
  t.test(`what failed once does not fail again (${access})`, { buffered: true }, async t => {
    const known = regressions.filter(one => one.access === access)
    const { sequences } = await played({ access, runs: known.length, length, seed, known })
    t.equal(sequences, known.length)
    t.ok(sequences > 0)
  })
}

for (let from = 0; from < sequences; from += onOneGround) {
  const runs = Math.min(onOneGround, sequences - from)
  // Of each four grounds three may delete.
  const access = (from / onOneGround) % 4 === 3 ? 'edit' : 'manage'
  t.test(
    `the drive and the service do what a plain model does (${access}, CALCFS_MODEL_SEED=${seed + from})`,
    { timeout: 3_600_000, buffered: true },
    async t => {
      const job = { access, runs, length, seed: seed + from } as const
      t.same(await played(job), { sequences: runs, steps: runs * length })
    },
  )
}
