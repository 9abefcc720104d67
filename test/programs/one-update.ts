// Judges one save of a program: the service got exactly the expected writes, and no unwanted file is left.
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { printed } from '../testbed/programs.js'
import { namesOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'
import type { Saver } from './savers.js'

/** One file that one program saves once. */
interface Target {
  /** Below the mount. */
  readonly path: string
  /** What the program saves. */
  readonly text: string
  /** The writes that are due. */
  readonly due: readonly string[]
  /** What the service has of it; compared with `stored`. */
  readonly told: () => Promise<unknown>
  readonly stored: unknown
}

/** Lets the program save, and looks at the service, at the directory and at the drafts. */
export async function savesOnce(
  t: Test,
  testbed: KernelTestbed,
  saver: Saver,
  target: Target,
): Promise<void> {
  const directory = dirname(target.path)
  const name = basename(target.path)
  const before = await ownNames(testbed, directory)
  const local = join(testbed.local, encodeURIComponent(target.path))
  const copy = join(local, name)
  await mkdir(local)
  await writeFile(copy, target.text)
  await testbed.service.sends(t, target.due, 'exactly the writes that are due', async () => {
    await printed('bash', ['-c', saver.line], {
      cwd: local,
      environment: { HOME: testbed.local, file: join(testbed.directory, target.path), copy, name },
    })
    const kept = (saver.keeps ?? []).map(form => form.replace('%', name))
    const expected = [...new Set([...before, ...kept])].sort()
    let there: readonly string[] = []
    // The kernel tells of the end of an open file when it pleases.
    await until(5000, `${saver.name} has cleaned up`, async () => {
      there = await ownNames(testbed, directory)
      return there.length === expected.length
    }).catch(() => t.same(there, expected, 'nothing is left over'))
    t.same(there, expected)
  })
  t.same(await target.told(), target.stored, 'the service has it')
  t.same(await namesOf(testbed, '.calcfs/drafts'), [], 'no draft')
}

/** Names in a directory, apart from the links that stand for the rows of a report. */
const ownNames = async (testbed: KernelTestbed, directory: string): Promise<readonly string[]> =>
  (await namesOf(testbed, directory)).filter(name => !/^\d+-.*~\d+$/.test(name))
