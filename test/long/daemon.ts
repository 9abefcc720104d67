// What a daemon under trial uses of its machine, and the mistakes that it logs.
import { readdir, readFile, readlink } from 'node:fs/promises'
import type { MountTestbed } from '../testbed/mount.js'

/** Bytes of memory that the daemon has (`VmRSS`), or the most it ever had since it was started (`VmHWM`). */
export async function memoryOf(testbed: MountTestbed, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> {
  const text = await readFile(`/proc/${testbed.daemonPid()}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
}

/** Without those that stay open for what is kept: drafts, and the contents used last. */
export async function descriptorsOf(testbed: MountTestbed): Promise<readonly string[]> {
  const all = `/proc/${testbed.daemonPid()}/fd`
  const targets = await Promise.all(
    // One that is closed between the two calls is none.
    (await readdir(all)).map(at => readlink(`${all}/${at}`).catch(() => '/drafts/')),
  )
  return targets.filter(target => !/\/(drafts|content\/kept)\//.test(target)).sort()
}

/** Lines of its log that tell of a mistake in the program itself, not of a bad service. */
export async function mistakesOf(testbed: MountTestbed): Promise<readonly string[]> {
  const mistake = /\b(TypeError|RangeError|ReferenceError|uncaught|unhandled|heap out of memory)\b/i
  const lines = (await testbed.log()).split('\n').filter(line => mistake.test(line))
  return [...new Set(lines.map(line => line.slice(0, 300)))]
}
