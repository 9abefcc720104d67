// Scenarios of scale: a hundred thousand calculations, a hundred thousand kept files, a full cache; each with its target.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BlobStore } from '../../src/cache/content/store/blob-store.js'
import { ChecksumBuilder, storedBytes } from '../../src/cache/content/store/checksum.js'
import { type KeptRow, KeptTable } from '../../src/cache/content/store/kept-table.js'
import { Ledger } from '../../src/cache/ledger/ledger.js'
import { systemClock } from '../../src/remote/clock.js'
import { ownEnvironment } from '../peers/calcfs.js'
import { forgetPeaks, used } from '../processes/measure-processes.js'
import { unmount } from '../processes/mounts.js'
import { startOrigin } from '../processes/start.js'
import { longestStretch, stretch } from '../trees/bytes.js'
import { pathsOf } from '../trees/paths.js'
import { treeOf } from '../trees/trees.js'

export interface ScaleRow {
  readonly what: string
  readonly found: string
  readonly target: string
  /** Undefined where the target names no figure. */
  readonly met: boolean | undefined
  /** What the table of targets knows it by, and the figure: times `node -e 0`, or megabytes. */
  readonly key?: 'mounted empty' | 'mounted kept' | 'command' | 'peak' | 'rest'
  readonly value?: number
}

/** About how many seconds all of them take. */
export const scaleSeconds = 200

type Say = (row: ScaleRow) => void

const program = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))
const run = promisify(execFile)
const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`
const keptFiles = 100_000
const rowsAtOnce = 256
const memoryLimit = 256e6
const restLimit = 150e6
/** Times `node -e 0` in the same run. */
const upWithin = 13
const emptyWithin = 9
const commandWithin = 3.5
const restMs = 60_000
const cacheLimit = 100 << 20
const readers = 16

/** Runs all three scenarios below an empty directory, and tells each figure as it comes. */
export async function measureScale(base: string, say: Say): Promise<void> {
  await manyCalculations(join(base, 'many'), say, () => manyKeptFiles(join(base, 'kept'), say))
  await fullCache(join(base, 'full'), say)
}

interface Drive {
  readonly root: string
  readonly pid: number
  /** Milliseconds until the command that mounts it returned. */
  readonly upAfter: number
}

/** Mounts in the background with caches of its own, which a second mount in the same place finds again. */
async function mountAt(place: string, rest: string, more: readonly string[] = []): Promise<Drive> {
  const own = (name: string): string => join(place, name)
  // A killed mount's leftovers at its directory are for calcfs to clear away.
  if (!existsSync(own('cache'))) mkdirSync(own('mnt'), { recursive: true, mode: 0o700 })
  const env = { ...process.env, ...ownEnvironment(place) }
  const flags = ['--user', 'demo', '--access', 'read', '--daemon', '--log-file', own('log'), ...more]
  const began = performance.now()
  const { stdout } = await run(process.execPath, [program, 'mount', rest, own('mnt'), ...flags], { env })
  const pid = Number(/process (\d+)/.exec(stdout)?.[1])
  return { root: own('mnt/projects'), pid, upAfter: performance.now() - began }
}

/** Milliseconds that a command takes; its output is thrown away. */
async function timed(command: string, args: readonly string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(command, args, { stdio: 'ignore' })
  const code = await ended(child)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
  return performance.now() - began
}

/** Milliseconds of the quickest of some runs of Node, in the surroundings of the drive at this place. */
async function quickest(place: string, args: readonly string[]): Promise<number> {
  const env = { ...process.env, ...ownEnvironment(place) }
  const took: number[] = []
  for (let at = 0; at < 5; at += 1) {
    const began = performance.now()
    await run(process.execPath, [...args], { env })
    took.push(performance.now() - began)
  }
  return Math.min(...took)
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))

/** `meanwhile` is done while this drive rests. */
async function manyCalculations(place: string, say: Say, meanwhile: () => Promise<void>): Promise<void> {
  const origin = await startOrigin({ tree: 'scale' })
  try {
    const drive = await mountAt(place, origin.rest)
    const tell = (what: string, found: string): void => say({ what, found, target: '–', met: undefined })
    tell('mount of 100,000 calculations', inSeconds(drive.upAfter))
    for (const [what, below] of [
      ['ls of 50,000 calculations, cold', 'huge'],
      ['the same, warm', 'huge'],
      ['ls of 500 calculations, cold', 'group-01/project-01'],
    ] as const) {
      tell(what, inSeconds(await timed('ls', ['-f', join(drive.root, below)])))
    }
    const walk = async (below: string): Promise<string> =>
      inSeconds(await timed('find', [join(drive.root, below)]))
    tell('find below a project of 5,000 calculations', await walk('group-01'))
    tell('find below the one of 50,000', await walk('huge'))
    const { peakBytes } = await used([drive.pid])
    const peak = {
      key: 'peak',
      value: peakBytes / 1e6,
      target: '≤ 256 MB',
      met: peakBytes <= memoryLimit,
    } as const
    say({ what: 'peak memory of all this', found: inMegabytes(peakBytes), ...peak })
    await Promise.all([wait(restMs), meanwhile()])
    const { presentBytes } = await used([drive.pid])
    const rest = {
      key: 'rest',
      value: presentBytes / 1e6,
      target: '≤ 150 MB',
      met: presentBytes <= restLimit,
    } as const
    say({ what: 'memory a minute later', found: inMegabytes(presentBytes), ...rest })
    await unmount(join(place, 'mnt'))
    tell('the index on disk', inMegabytes(await bytesBelow(directoryNamed(join(place, 'cache'), 'index'))))
  } finally {
    await unmount(join(place, 'mnt'))
    await origin.stop()
    rmSync(place, { recursive: true, force: true })
  }
}

async function manyKeptFiles(place: string, say: Say): Promise<void> {
  const origin = await startOrigin({ tree: 'small' })
  try {
    const first = await mountAt(place, origin.rest)
    await timed('cp', ['-r', join(first.root, 'project-01'), join(place, 'copy')])
    await unmount(join(place, 'mnt'))
    await keepMany(join(place, 'cache'))
    const killed = await mountAt(place, origin.rest)
    process.kill(killed.pid, 'SIGKILL')
    const empty = await mountAt(join(place, 'empty'), origin.rest)
    await unmount(join(place, 'empty', 'mnt'))
    const again = await mountAt(place, origin.rest)
    const list = await timed('ls', ['-l', join(again.root, 'project-01')])
    const node = await quickest(place, ['-e', '0'])
    const command = await quickest(place, [program, 'status', join(place, 'mnt')])
    const times = (what: string, milliseconds: number, most: number): Omit<ScaleRow, 'key'> => ({
      what,
      found: `${inSeconds(milliseconds)}, ${(milliseconds / node).toFixed(1)} × node -e 0`,
      target: `≤ ${most} ×`,
      met: milliseconds <= most * node,
      value: milliseconds / node,
    })
    say({ ...times('mounted with an empty cache', empty.upAfter, emptyWithin), key: 'mounted empty' })
    const kept = 'mounted over 100,000 kept files, after kill -9'
    say({ ...times(kept, again.upAfter, upWithin), key: 'mounted kept' })
    say({ ...times('status of a mounted drive', command, commandWithin), key: 'command' })
    say({ what: 'and a folder listed then', found: inSeconds(list), target: '–', met: undefined })
    await timed('diff', ['-r', join(place, 'copy'), join(again.root, 'project-01')])
  } finally {
    await unmount(join(place, 'mnt'))
    await unmount(join(place, 'empty', 'mnt'))
    await origin.stop()
    rmSync(place, { recursive: true, force: true })
  }
}

/** As a daemon keeps them. */
async function keepMany(cache: string): Promise<void> {
  const settings = { clock: systemClock, now: systemClock.now, log: () => {} }
  const store = new BlobStore(directoryNamed(cache, 'content'), settings)
  const ledger = new Ledger(directoryNamed(cache, 'index'), settings)
  const table = new KeptTable(ledger)
  let added: KeptRow[] = []
  for (let at = 0; at < keptFiles; at += 1) {
    const bytes = Buffer.from(`kept ${at}\n`)
    const prover = new ChecksumBuilder()
    prover.add(bytes)
    const name = createHash('sha256').update(bytes).digest('hex')
    await store.keep(name, bytes, prover.finish())
    added.push({ name, bytes: storedBytes(bytes.length), used: systemClock.now() })
    if (added.length < rowsAtOnce && at < keptFiles - 1) continue
    table.write({ added, gone: [], uses: [] })
    added = []
  }
  ledger.close()
}

async function fullCache(place: string, say: Say): Promise<void> {
  const origin = await startOrigin({ tree: 'lab' })
  let watching = true
  try {
    const drive = await mountAt(place, origin.rest, ['--cache-size', '100MB'])
    await forgetPeaks([drive.pid])
    const kept = join(directoryNamed(join(place, 'cache'), 'content'), 'kept')
    let most = 0
    const watch = (async () => {
      while (watching) most = Math.max(most, await bytesBelow(kept))
    })()
    const files = labFiles()
    const wrong = await Promise.all(
      Array.from({ length: readers }, (_, reader) => wrongOnes(drive.root, files, reader)),
    )
    watching = false
    await watch
    const largest = Math.max(...files.map(({ size }) => size))
    const count = wrong.reduce((sum, more) => sum + more, 0)
    const whole = `${readers} readers of ${files.length} files in a cache of 100 MB`
    say({ what: `${whole}: wrong files`, found: String(count), target: '0', met: count === 0 })
    const met = most <= cacheLimit + largest + 4096
    say({
      what: 'the most that lay in the cache',
      found: inMegabytes(most),
      target: '≤ 100 MB and one file',
      met,
    })
    const { peakBytes } = await used([drive.pid])
    const small = peakBytes <= memoryLimit
    say({ what: 'peak memory of it', found: inMegabytes(peakBytes), target: '≤ 256 MB', met: small })
  } finally {
    watching = false
    await unmount(join(place, 'mnt'))
    await origin.stop()
    rmSync(place, { recursive: true, force: true })
  }
}

interface KnownFile {
  readonly path: string
  readonly size: number
  readonly md5: string
}

function labFiles(): readonly KnownFile[] {
  const tree = treeOf('lab')
  const paths = pathsOf(tree)
  return tree.projects.flatMap(project =>
    Array.from({ length: project.count }, (_, at) => paths.calculationAt(project, at)).flatMap(calculation =>
      paths.files(calculation).map(file => {
        const hash = createHash('md5')
        for (let at = 0; at < file.size; at += longestStretch) hash.update(stretch(file, at, longestStretch))
        return {
          path: join(project.name, calculation.name, file.name),
          size: file.size,
          md5: hash.digest('hex'),
        }
      }),
    ),
  )
}

/** Every reader reads every fourth file, each in an order of its own, so that all meet files evicted by others. */
async function wrongOnes(root: string, files: readonly KnownFile[], reader: number): Promise<number> {
  const own = files
    .filter((_, at) => at % 4 === reader % 4)
    .map((file, at) => ({ file, place: (at * 7919 + reader * 104_729) % 10_007 }))
    .sort((one, other) => one.place - other.place)
    .map(({ file }) => file)
  const paths = own.map(({ path }) => join(root, path))
  const { stdout } = await run('md5sum', paths, { maxBuffer: 64 << 20 })
  const sums = stdout.trim().split('\n')
  return own.filter(({ md5 }, at) => !sums[at]?.startsWith(md5)).length
}

/** The first directory of this name below another. */
function directoryNamed(below: string, name: string): string {
  const found = readdirSync(below, { recursive: true, withFileTypes: true }).find(
    entry => entry.isDirectory() && entry.name === name,
  )
  if (found === undefined) throw new Error(`there is no ${name} below ${below}`)
  return join(found.parentPath, found.name)
}

async function bytesBelow(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(
    names.map(name => stat(join(directory, name)).then(({ size }) => size, gone)),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Evicted between the two questions. */
const gone = (): number => 0
