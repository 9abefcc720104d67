// Starts, queries and ends the bench's own processes: each prints one line of JSON when it is ready.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Limit, LimitJob } from '../limits/limits.js'
import type { Counts } from '../origin/counts.js'
import type { TreeName } from '../trees/trees.js'

/** A process that runs until it is stopped; it ends by itself when this one does. */
export interface Running {
  readonly pid: number
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>
}

export interface Origin extends Running {
  /** The base address for calcfs, without `/create/rest`. */
  readonly rest: string
  /** Listings in nginx's style, with a slash at the end. */
  readonly files: string
  readonly dav: string
  /** The counters since the last call, or since the start. */
  counts(): Promise<Counts>
}

/** Starts the origin over one tree; `log` is a file for one line of JSON a request. */
export async function startOrigin(wish: {
  readonly tree: TreeName
  readonly log?: string
  readonly geometry?: boolean
}): Promise<Origin> {
  const { ready, running } = await started('../origin/origin.js', [
    ...['--tree', wish.tree],
    ...(wish.log === undefined ? [] : ['--log', wish.log]),
    ...(wish.geometry === false ? ['--no-geometry'] : []),
  ])
  const { rest, files, dav, counts } = ready as Record<'rest' | 'files' | 'dav' | 'counts', string>
  return {
    ...running,
    rest,
    files,
    dav,
    counts: async () => (await (await fetch(counts)).json()) as Counts,
  }
}

export interface Relay extends Running {
  /** `http://127.0.0.1:PORT`, which stands for the address it leads to. */
  readonly url: string
  readonly port: number
}

/** A link of `delay` milliseconds a round trip to a port of this machine; `handshake`: connecting costs one, too. */
export async function startRelay(wish: {
  readonly to: number
  readonly delay: number
  readonly handshake?: boolean
}): Promise<Relay> {
  const { ready, running } = await started('../origin/relay.js', [
    ...['--to', `127.0.0.1:${wish.to}`, '--delay', String(wish.delay)],
    ...(wish.handshake === true ? ['--handshake'] : []),
  ])
  const { url, port } = ready as { url: string; port: number }
  return { ...running, url, port }
}

/** What a memory-backed file system shows: a tree, with the records that calcfs shows or without, or so many empty files. */
export type Shown = { readonly tree: TreeName; readonly records: boolean } | { readonly entries: number }

/** Mounts a memory-backed file system of the same binding at an empty directory. */
export async function startPassThrough(at: string, shown: Shown): Promise<Running> {
  const what = 'tree' in shown ? ['--tree', shown.tree] : ['--entries', String(shown.entries)]
  const records = 'tree' in shown && shown.records ? ['--records'] : []
  const { running } = await started('../peers/pass-through.js', ['--at', at, ...what, ...records])
  return running
}

/** Runs one job of raw undici in a process of its own. */
export async function measureLimit(job: LimitJob): Promise<Limit> {
  const { ready, running } = await started('../limits/limits.js', [JSON.stringify(job)])
  await running.stop()
  return ready as Limit
}

/** Milliseconds until a process must have ended after it was asked to. */
const patience = 10_000

/** Resolves with the first line a script of this directory prints. Rejects if it ends before. */
async function started(
  script: string,
  args: readonly string[],
): Promise<{ ready: unknown; running: Running }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const line = await firstLine(script, child)
  return { ready: JSON.parse(line), running: { pid: child.pid ?? 0, stop: () => stopped(child) } }
}

async function firstLine(script: string, child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error(`${script} has no output`)
  const lines = createInterface({ input: child.stdout })
  return new Promise((resolve, reject) => {
    lines.once('line', resolve)
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`${script} ended with ${code} before it was ready`)))
  })
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), patience)
  await exit
  clearTimeout(late)
}
