// One batch of random operations on a file of a mount and on a local copy of it, in a process of its own.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MountTestbed } from '../../testbed/mount.js'
import { printed } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import type { Done, Job } from './fsx-child.js'

const child = fileURLToPath(new URL('fsx-child.js', import.meta.url))
/** Bytes. */
const largest = 256 * 1024

/** The file that a batch works on. */
export const fsxFile = (kind: 'scratch' | 'draft'): string =>
  kind === 'draft' ? `reports/${ids.report}.json` : 'reports/scratch.bin'

/** @param limit milliseconds. @throws Error with the seed and the last operations at the first difference */
export async function fsxBatch(
  testbed: MountTestbed,
  kind: 'scratch' | 'draft',
  { limit, ...job }: Pick<Job, 'seed' | 'operations'> & { limit: number },
): Promise<Done> {
  const file = fsxFile(kind)
  const drive = join(testbed.directory, file)
  const local = join(testbed.local, file.replaceAll('/', '-'))
  const whole: Job = { ...job, isDraft: kind === 'draft', drive, local, largest }
  return JSON.parse(await printed(process.execPath, [child, JSON.stringify(whole)], { limit }))
}

export const operationsIn = ({ counts }: Done): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)
