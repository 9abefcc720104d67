// A directory of a test that every user of the machine may enter, for what is installed there.
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../programs.js'
import type { TestLifetime } from '../testbed.js'

/** Milliseconds: a whole Debian may lie there. */
const limit = 900_000

/** Removed at the end of the test; what is still mounted below it is left alone. */
export async function openDirectory(t: TestLifetime, name: string): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), `calcfs-${name}-`))
  t.teardown(() => run('rm', ['-rf', '--one-file-system', made], { limit }))
  await chmod(made, 0o755)
  return made
}
