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
  /** PEM files; with them the REST door speaks TLS. */
  readonly identity?: { readonly certificate: string; readonly key: string }
  /** Milliseconds of the link that leads to it. */
  readonly roundTrip?: number
}): Promise<Origin> {
  const { ready, running } = await started('../origin/origin.js', [
    ...['--tree', wish.tree],
    ...(wish.log === undefined ? [] : ['--log', wish.log]),
    ...(wish.roundTrip === undefined ? [] : ['--round-trip', String(wish.roundTrip)]),
    ...(wish.geometry === false ? ['--no-geometry'] : []),
    ...(wish.identity === undefined
      ? []
      : ['--certificate', wish.identity.certificate, '--key', wish.identity.key]),
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

/**
 * A link of `delay` milliseconds a round trip to a port of this machine; `handshake`: connecting costs one, too;
 * `megabits`: the bandwidth of each direction a second.
 */
export async function startRelay(wish: {
  readonly to: number
  readonly delay: number
  readonly handshake?: boolean
  readonly megabits?: number
}): Promise<Relay> {
  const { ready, running } = await started('../origin/relay.js', [
    ...['--to', `127.0.0.1:${wish.to}`, '--delay', String(wish.delay)],
    ...(wish.handshake === true ? ['--handshake'] : []),
    ...(wish.megabits === undefined ? [] : ['--megabits', String(wish.megabits)]),
  ])
  const { url, port } = ready as { url: string; port: number }
  return { ...running, url, port }
}

/** What a memory-backed file system shows: a tree, with the records that calcfs shows or without, or so many empty files. */
export type Shown = { readonly tree: TreeName; readonly records: boolean } | { readonly entries: number }

/** Mounts a memory-backed file system at an empty directory, in one of the two ways that calcfs has. */
export async function startPassThrough(
  at: string,
  shown: Shown,
  way: 'libfuse' | 'session',
): Promise<Running> {
  const what = 'tree' in shown ? ['--tree', shown.tree] : ['--entries', String(shown.entries)]
  const records = 'tree' in shown && shown.records ? ['--records'] : []
  const session = way === 'session' ? ['--session'] : []
  const args = ['--at', at, ...session, ...what, ...records]
  const { running } = await started('../peers/pass-through.js', args)
  return running
}

/** Runs one job of raw undici in a process of its own. */
export async function measureLimit(job: LimitJob): Promise<Limit> {
  const { ready, running } = await started('../limits/limits.js', [JSON.stringify(job)])
  await running.stop()
  return ready as Limit
}

export interface Keeper {
  /** Lets it take away what is left; resolves when it has ended. */
  end(): Promise<void>
}

/** Starts a process that takes these directories away when this one has gone, with the mounts in them. */
export async function startKeeper(directories: readonly string[]): Promise<Keeper> {
  // In a group of its own: an interrupt of the terminal reaches the run's group.
  const { child } = await started('./keeper.js', directories, { detached: true })
  child.unref()
  return {
    async end() {
      const exit = once(child, 'exit')
      child.ref()
      child.disconnect()
      await exit
    },
  }
}

/** Milliseconds until a process must have ended after it was asked to. */
const patience = 10_000

/** Resolves with the first line a script of this directory prints. Rejects if it ends before. */
async function started(
  script: string,
  args: readonly string[],
  options: { readonly detached?: boolean } = {},
): Promise<{ ready: unknown; running: Running; child: ChildProcess }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    ...options,
  })
  const line = await firstLine(script, child)
  return { ready: JSON.parse(line), running: { pid: child.pid ?? 0, stop: () => stopped(child) }, child }
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
