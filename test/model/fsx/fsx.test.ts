// Random reads, writes and cuts on a scratch file and on a draft: each byte as on a local disk (fsx, without mmap).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { outcome } from '../../testbed/testbed.js'
import { fsxBatch, operationsIn } from './fsx.js'

const seed = Number(process.env['CALCFS_MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const total = Number(process.env['CALCFS_FSX_OPERATIONS'] ?? 2_000)
const batches = 10

/** The batches of one file, one after another; the first difference ends the test with the seed that shows it. */
async function batchesOf(t: Test, testbed: MountTestbed, kind: 'scratch' | 'draft'): Promise<void> {
  const isDraft = kind === 'draft'
  let refused = 0
  let operations = 0
  for (let at = 0; at < batches / 2; at++) {
    const job = { seed: seed + at + (isDraft ? batches : 0), operations: total / batches, limit: 120_000 }
    t.comment(`${kind}: seed ${job.seed}`)
    const done = await fsxBatch(testbed, kind, job)
    refused += done.refused
    operations += operationsIn(done)
  }
  t.equal(operations, total / 2)
  t.equal(refused > 0, isDraft, `${refused} closes were refused`)
}

t.setTimeout(570_000)

t.test(
  `SAVE-7 DRAFT-1 what is written next to a record, or waits as a draft, is there byte for byte (seed ${seed})`,
  { timeout: 300_000 },
  async t => {
    const testbed = await realMount(t)
    await testbed.service.sends(t, [], 'none of it reached the service', async () => {
      await t.test('a scratch file', { timeout: 200_000 }, t => batchesOf(t, testbed, 'scratch'))
      await t.test('a draft that is no JSON', { timeout: 200_000 }, t => batchesOf(t, testbed, 'draft'))
    })

    const [scratch, draft] = await Promise.all(
      ['reports-scratch.bin', `reports-${ids.report}.json`].map(name => readFile(join(testbed.local, name))),
    )
    await testbed.remount()
    const { files } = testbed
    t.ok(scratch?.equals(await files.readFile('reports/scratch.bin')), 'the scratch file after a restart')
    t.ok(draft?.equals(await files.readFile(`reports/${ids.report}.json`)), 'the draft after a restart')
    t.ok(draft?.equals(await files.readFile(`.calcfs/drafts/${ids.report}.json`)), 'and among the drafts')
    t.equal(await outcome(files.unlink(`.calcfs/drafts/${ids.report}.json`)), 'done')
  },
)
