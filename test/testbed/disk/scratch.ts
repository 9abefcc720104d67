// An empty directory that goes with its test.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestLifetime } from '../testbed.js'

export async function scratch(t: TestLifetime): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'calcfs-test-'))
  t.teardown(() => rm(made, { recursive: true, force: true }))
  return made
}
