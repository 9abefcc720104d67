// Resources of the processes of a mount, read from /proc: processor seconds and the highest resident memory.
import { readdir, readFile, writeFile } from 'node:fs/promises'

/** What a mount's processes have used. */
export interface Used {
  /** Seconds of processor time, user and system, of all of them since they were started. */
  readonly cpuSeconds: number
  /** Bytes: the sum of each one's highest resident memory since `forgetPeaks`. */
  readonly peakBytes: number
  /** Bytes: the resident memory of all of them now. */
  readonly presentBytes: number
}

interface Line {
  readonly pid: number
  readonly parent: number
  /** Clock ticks, those of children that were waited for included. */
  readonly ticks: number
}

/** The kernel shows times in hundredths of a second on every machine that Linux runs on. */
const ticksPerSecond = 100

/** These processes and all that descend from them; what has ended is left out. */
async function family(roots: readonly number[]): Promise<readonly Line[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const lines = (await Promise.all(pids.map(statLine))).filter(line => line !== undefined)
  const found = new Map(lines.filter(({ pid }) => roots.includes(pid)).map(line => [line.pid, line]))
  let before = -1
  while (before !== found.size) {
    before = found.size
    for (const line of lines) if (found.has(line.parent)) found.set(line.pid, line)
  }
  return [...found.values()]
}

async function statLine(pid: number): Promise<Line | undefined> {
  const text = await ofProcess(pid, 'stat')
  if (text === undefined) return undefined
  // The name stands in parentheses and may hold blanks: the fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number): number => Number(fields[index])
  return { pid, parent: number(1), ticks: number(11) + number(12) + number(13) + number(14) }
}

/** undefined: the process has ended meanwhile. */
async function ofProcess(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8')
  } catch (thrown) {
    if (hasEnded(thrown)) return undefined
    throw thrown
  }
}

const hasEnded = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ESRCH')

/** What these processes and their descendants have used so far. */
export async function used(roots: readonly number[]): Promise<Used> {
  const lines = await family(roots)
  const statuses = await Promise.all(lines.map(({ pid }) => ofProcess(pid, 'status')))
  const bytesOf = (name: string): number =>
    statuses.reduce((sum, status = '') => {
      const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]
      return sum + Number(kilobytes ?? 0) * 1024
    }, 0)
  return {
    cpuSeconds: lines.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond,
    peakBytes: bytesOf('VmHWM'),
    presentBytes: bytesOf('VmRSS'),
  }
}

/** From now on `peakBytes` is the highest since now. */
export async function forgetPeaks(roots: readonly number[]): Promise<void> {
  for (const { pid } of await family(roots)) {
    try {
      await writeFile(`/proc/${pid}/clear_refs`, '5')
    } catch (thrown) {
      // A process of another user keeps its peak: it is then the highest since it was started.
      if (!hasEnded(thrown) && !isRefused(thrown)) throw thrown
    }
  }
}

const isRefused = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'EACCES' || thrown.code === 'EPERM')
