// `npm run bench -- --delay`: how long the event loop of a mount was held up by each work, beside the pass-through of the session.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ownEnvironment } from '../peers/calcfs.js'
import { mountWith } from '../peers/peers.js'
import { startOrigin } from '../processes/start.js'
import { answerVariable, type Delays } from './watch.js'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const program = here('../../../bin/calcfs')
/** A walk is cut after so many seconds: it is as busy then as later. */
const walkSeconds = 60
/** A record near the largest that is taken, in bytes. */
const largeRecord = 15 << 20
/** Beyond these no other call should have to wait, in milliseconds. */
const [mostP99, mostLonger] = [5, 20]

interface Watched {
  readonly mnt: string
  /** Does the work, a line for the shell with `$MNT` and `$TO`; how late the event loop was meanwhile. */
  during(work: string): Promise<Delays>
  end(): Promise<void>
}

/** `args` get the mount point. */
async function watched(base: string, args: (mnt: string) => readonly string[]): Promise<Watched> {
  const own = (name: string): string => join(base, name)
  const mnt = own('mnt')
  mkdirSync(mnt, { recursive: true, mode: 0o700 })
  const answer = own('delays.json')
  const environment = { ...ownEnvironment(base), [answerVariable]: answer }
  const program = {
    command: process.execPath,
    args: ['--import', here('watch.js'), ...args(mnt)],
    environment,
  }
  const mounted = await mountWith(program, { mountPoint: mnt, cache: base, log: own('log') })
  const [pid = 0] = mounted.processes
  await wait(1_000)
  return {
    mnt,
    async during(work) {
      await asked(pid, answer)
      const to = own('to')
      mkdirSync(to)
      await shell(work, { ...process.env, MNT: mnt, TO: to })
      const delays = await asked(pid, answer)
      rmSync(to, { recursive: true, force: true })
      return delays
    },
    end: mounted.unmount,
  }
}

async function asked(pid: number, answer: string): Promise<Delays> {
  rmSync(answer, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(answer)) await wait(20)
  return JSON.parse(readFileSync(answer, 'utf8')) as Delays
}

async function shell(work: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [code] = await once(
    spawn('sh', ['-c', work], { env, stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  )
  if (code !== 0) throw new Error(`${work} ended with ${code}`)
}

function tell(what: string, found: Delays, floor: Delays | undefined): void {
  const shown = ({ p99, longest }: Delays): string =>
    `p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`
  const isMet = found.p99 <= mostP99 && found.longest <= (floor?.longest ?? 0) + mostLonger
  const beside = floor === undefined ? '' : `; the pass-through ${shown(floor)}`
  console.log(`${what}: ${shown(found)}${beside}; ${isMet ? 'met' : 'not met'}`)
}

const calcfs = (rest: string, access: string) => (mnt: string) => [
  ...[program, 'mount', rest, mnt, '--user', 'demo', '--access', access],
]
const passThrough = (tree: string) => (mnt: string) => [
  ...[here('../peers/pass-through.js'), '--at', mnt, '--session', '--tree', tree],
]

/** The same work on both, one after the other. */
async function beside(base: string, tree: 'lab' | 'scale', what: string, work: string): Promise<Delays> {
  const floorMount = await watched(join(base, `${tree}-floor`), passThrough(tree))
  const floor = await floorMount.during(work.replaceAll('$MNT/projects', '$MNT')).finally(floorMount.end)
  const origin = await startOrigin({ tree })
  try {
    const mount = await watched(join(base, tree), calcfs(origin.rest, 'read'))
    tell(what, await mount.during(work).finally(mount.end), floor)
  } finally {
    await origin.stop()
  }
  return floor
}

/** A program that gives a report another description. */
const edited = (report: string | undefined, bytes: number): string =>
  `node -e 'const fs = require("fs"); const [at] = process.argv.slice(1); const report = JSON.parse(fs.readFileSync(at)); report.description = "x".repeat(${bytes}); fs.writeFileSync(at, JSON.stringify(report))' ${report}`

/** Of one writable service: a long record alone, and a save beside its reading. */
async function records(base: string, floor: Delays): Promise<void> {
  const args = [program, 'serve', '--sample', '--port', '0', '--data', join(base, 'service')]
  const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(service, 'exit')
  try {
    let url: string | undefined
    for await (const line of createInterface({ input: service.stdout })) {
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
      if (url !== undefined) break
    }
    if (url === undefined) throw new Error('the bundled service told no address')
    const mount = await watched(join(base, 'records'), calcfs(url, 'edit'))
    try {
      const [long, short] = [1, 2].map(
        at => `$(ls -d $(seq -f "$MNT/reports/%g.json" 99) 2> "$TO/missing" | sed -n ${at}p)`,
      )
      const read = `cat ${long} > $TO/long`
      const again = 'touch $MNT/reports'
      tell('a report of 15 MiB, saved', await mount.during(edited(long, largeRecord)), floor)
      tell('the same, read', await mount.during(`${again} && ${read}`), floor)
      const both = `${again} && { ${read} & ${edited(short, 100)}; wait; }`
      tell('the same, read beside a save', await mount.during(both), floor)
    } finally {
      await mount.end()
    }
  } finally {
    service.kill('SIGTERM')
    await gone
  }
}

const base = mkdtempSync(join(tmpdir(), 'calcfs-delay-'))
try {
  const floor = await beside(base, 'lab', 'cold copy of 3,000 files', 'cp -r $MNT/projects $TO/copy')
  await beside(
    base,
    'scale',
    `walk of 100,000 calculations, ${walkSeconds} s of it`,
    `timeout ${walkSeconds} find $MNT/projects > $TO/names || true`,
  )
  await records(base, floor)
} finally {
  rmSync(base, { recursive: true, force: true })
}
