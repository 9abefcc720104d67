// fsx: random reads, writes and cuts on a scratch file and on a draft, each byte as on a local disk, over restarts too.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fsxBatch, fsxFile, operationsIn } from '../../model/fsx/fsx.js'
import { realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import type { Figure, Frame } from '../engine.js'

const operations = { cut: 500, full: 50_000 }
/** Milliseconds that one batch may take. */
const limit = 1_800_000
const draft = `.calcfs/drafts/${ids.report}.json`

async function run(frame: Frame): Promise<void> {
  const { order, pick } = frame
  await frame.onGrounds(
    async scope => {
      const testbed = await realMount(scope, { settings: { logLevel: 'info' } })
      const { files, local, service } = testbed
      /** A batch on each file: none of it reaches the service, and all of it outlives the daemon. */
      return async () => {
        const wrong: string[] = []
        const sent = await service.during(async () => {
          for (const kind of ['scratch', 'draft'] as const) {
            const job = { seed: pick.whole(1, 2 ** 31 - 1), operations: operations[order.scale], limit }
            const done = await fsxBatch(testbed, kind, job)
            frame.add('operations', operationsIn(done))
            frame.add('batches')
            if (done.refused > 0 !== (kind === 'draft'))
              wrong.push(`${kind}: ${done.refused} closes were refused`)
          }
          await testbed.remount()
        })
        wrong.push(...writes(sent).map(line => `${line} was sent`))
        for (const kind of ['scratch', 'draft'] as const) {
          const due = await readFile(join(local, fsxFile(kind).replaceAll('/', '-')))
          for (const path of [fsxFile(kind), ...(kind === 'draft' ? [draft] : [])])
            if (!due.equals(await files.readFile(path))) wrong.push(`${path} is another one after a restart`)
        }
        await files.unlink(draft)
        return wrong
      }
    },
    { cases: 1_000, least: 2 },
  )
}

export const fsx: Figure = {
  name: 'fsx',
  goal: 'fsx, 5 × 50,000 operations: every byte and every size as on a local disk',
  least: { batches: 5, operations: 250_000 },
  run,
}
