// A daemon that mounts any address, for figures: started, killed and mounted again, with its memory and its descriptors.
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calcfs, Daemon, livingIn, type Settings } from '../testbed/daemon.js'
import { isMounted } from '../testbed/mount.js'
import { type Ran, run } from '../testbed/programs.js'
import type { TestLifetime } from '../testbed/testbed.js'

export interface Drive {
  /** The mount point. */
  readonly directory: string
  /** The home directory of the daemon: cache, state, log. */
  readonly home: string
  readonly pid: number
  /** Whether the daemon that was started last is still there. */
  readonly alive: boolean
  start(more?: Settings): Promise<void>
  /** Ends the daemon; its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  log(): Promise<string>
  calcfs(...args: string[]): Promise<Ran>
  /** Bytes of memory that the daemon has. */
  memory(): Promise<number>
  /** The most it ever had since it was started. */
  peakMemory(): Promise<number>
  /** Without those that stay open for what is kept: drafts, and the contents used last. */
  descriptors(): Promise<readonly string[]>
}

export interface Opening {
  /** A home directory that another daemon has left. */
  readonly home?: string
  readonly started?: boolean
  /** How often a start may fail: with a deadline of a second, a busy machine is enough for that. */
  readonly tries?: number
}

/** Makes the places of a drive and mounts it; the scope's end ends it. */
export async function openDrive(
  scope: TestLifetime,
  url: string,
  settings: Settings = {},
  { home: given, started = true, tries = 1 }: Opening = {},
): Promise<Drive> {
  const home = given ?? (await fs.mkdtemp(join(tmpdir(), 'd-')))
  const directory = join(home, 'drive')
  const logFile = join(home, 'log')
  for (const place of [directory, join(home, 'run')]) await fs.mkdir(place, { recursive: true })
  const environment = { ...livingIn(home), TMPDIR: home, CALCFS_PASSWORD: 'demo' }
  const daemon = new Daemon({ url, directory, environment })

  async function start(more: Settings = {}): Promise<void> {
    for (let left = tries; ; left -= 1) {
      try {
        return await daemon.start({ logLevel: 'info', logFile, user: 'demo', ...settings, ...more })
      } catch (thrown) {
        if (left <= 1) throw thrown
      }
    }
  }

  const pid = (): number => {
    if (daemon.pid === undefined) throw new Error('no daemon')
    return daemon.pid
  }

  const status = async (field: string): Promise<number> => {
    const text = await fs.readFile(`/proc/${pid()}/status`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  }

  scope.teardown(async () => {
    await daemon.endAnyhow()
    if (await isMounted(directory)) await run('fusermount', ['-u', '-z', directory])
    await fs.rm(home, { recursive: true, force: true, maxRetries: 5 })
  })
  if (started) await start()
  return {
    directory,
    home,
    get pid() {
      return pid()
    },
    get alive() {
      return daemon.alive
    },
    start,
    stop: signal => daemon.end(signal),
    log: () => fs.readFile(logFile, 'utf8').catch(() => ''),
    calcfs: (...args) => run(process.execPath, [calcfs, ...args], { environment, limit: 60_000 }),
    memory: () => status('VmRSS'),
    peakMemory: () => status('VmHWM'),
    async descriptors() {
      const all = await fs.readdir(`/proc/${pid()}/fd`)
      // One that is closed between the two calls is none.
      const targets = await Promise.all(
        all.map(at => fs.readlink(`/proc/${pid()}/fd/${at}`).catch(() => '/drafts/')),
      )
      return targets.filter(target => !/\/(drafts|content\/kept)\//.test(target)).sort()
    },
  }
}

/** Lines of a log that tell of a mistake in the program itself, not of a bad service. */
export const mistakesIn = (log: string): string[] => [
  ...new Set(
    log
      .split('\n')
      .filter(text =>
        /\b(TypeError|RangeError|ReferenceError|uncaught|unhandled|heap out of memory)\b/i.test(text),
      )
      .map(text => text.slice(0, 300)),
  ),
]
