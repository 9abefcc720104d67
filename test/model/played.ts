// Plays sequences of the model in a process of their own.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { optimizesLate, printed } from '../testbed/programs.js'
import type { Play, Played } from './sequences-child.js'

const child = fileURLToPath(new URL('sequences-child.js', import.meta.url))

/** What must be safe on disk is proved by kills; here a file system in memory saves the time. */
export const inMemory: Record<string, string> = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}

/** @throws Error with the shrunk sequence and its seed where the drive and the model differ */
export async function played(job: Play, environment: Record<string, string> = inMemory): Promise<Played> {
  // A failure's stack is worth little here, and costs a tenth of the time; so does code that is compiled to fast code early.
  const flags = ['--max-semi-space-size=64', '--stack-trace-limit=3', ...optimizesLate]
  const args = [...flags, child, JSON.stringify(job)]
  return JSON.parse(await printed(process.execPath, args, { limit: 3_600_000, environment }))
}
