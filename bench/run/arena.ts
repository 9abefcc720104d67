// One tree over one link: the origin's doors behind the delay, the same tree on the local disk, and the counters.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Counts } from '../origin/counts.js'
import type { Delayed, Doors } from '../peers/peers.js'
import { type Running, startOrigin, startRelay } from '../processes/start.js'
import { writeTree } from '../trees/disk.js'
import { seed } from '../trees/seed.js'
import { type TreeName, treeOf } from '../trees/trees.js'

/**
 * plain: a delay alone. tls: the REST door has a certificate made for the run, and connecting costs a round trip.
 * line: connecting costs a round trip, and all connections share a bandwidth.
 */
export const links = ['plain', 'tls', 'line'] as const
export type Link = (typeof links)[number]

/** Of the link called a line, each way; as much as an office has. */
export const lineMegabits = 100

/** What is measured, and how far away it is. */
export interface Setting {
  readonly tree: TreeName
  /** Milliseconds that every round trip takes longer. */
  readonly roundTrip: number
  readonly link: Link
}

export interface Arena extends Setting {
  readonly doors: Doors
  /** The requests since the last call. */
  counts(): Promise<Counts>
  close(): Promise<void>
}

/** Where an arena keeps files. */
export interface Ground {
  /** Trees lie here from run to run: written once and found again. */
  readonly trees: string
  /** Gone with the run. */
  readonly base: string
}

const run = promisify(execFile)

/** Starts an origin for the tree. */
export async function openArena({ tree, roundTrip, link }: Setting, ground: Ground): Promise<Arena> {
  if (tree === 'random') console.log(`the tree is drawn from ${seed}: CALCFS_BENCH_SEED=${seed} repeats it`)
  const disk = await onDisk(tree, ground.trees)
  const identity = link === 'tls' ? await identityIn(ground.base) : undefined
  const origin = await startOrigin({ tree, roundTrip, ...(identity === undefined ? {} : { identity }) })
  const running: Running[] = [origin]

  async function delayed(port: number): Promise<Delayed> {
    if (roundTrip === 0 && link === 'plain') return { port, stop: async () => undefined }
    return startRelay({
      to: port,
      delay: roundTrip,
      handshake: link !== 'plain',
      ...(link === 'line' ? { megabits: lineMegabits } : {}),
    })
  }

  async function behind(url: string): Promise<string> {
    const there = new URL(url)
    const relay = await delayed(Number(there.port))
    running.unshift({ pid: 0, stop: relay.stop })
    there.port = String(relay.port)
    return url.endsWith('/') ? there.href : there.href.replace(/\/$/, '')
  }

  const { rest, files, dav } = origin
  return {
    tree,
    roundTrip,
    link,
    doors: {
      tree,
      disk,
      delayed,
      ...(identity === undefined ? {} : { authorityFile: identity.certificate }),
      rest: await behind(rest),
      files: await behind(files),
      dav: await behind(dav),
    },
    counts: origin.counts,
    async close() {
      for (const one of running) await one.stop()
    },
  }
}

/** A key and a certificate that this run alone trusts. */
async function identityIn(base: string): Promise<{ readonly certificate: string; readonly key: string }> {
  const [certificate, key] = [join(base, 'certificate.pem'), join(base, 'key.pem')]
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1`
  const address = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate]
  await run('openssl', [...words.split(' '), ...address])
  return { certificate, key }
}

/** Moved into place when it is whole, so that half a tree is never taken for one; rewritten where its recipe changed. */
async function onDisk(tree: TreeName, base: string): Promise<string> {
  const drawn = tree === 'random' ? `-seed${seed}` : ''
  const directory = join(base, `${tree}-${recipe()}${drawn}`)
  if (existsSync(directory)) return directory
  for (const name of readdirSync(base).filter(name => name.startsWith(`${tree}-`)))
    rmSync(join(base, name), { recursive: true, force: true })
  const half = `${directory}.half`
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half, { recursive: true })
  await writeTree(treeOf(tree), half)
  renameSync(half, directory)
  return directory
}

/** Names the programs that say what is in a tree. */
function recipe(): string {
  const hash = createHash('sha256')
  for (const name of ['trees', 'seed', 'bytes', 'paths', 'disk'])
    hash.update(readFileSync(fileURLToPath(new URL(`../trees/${name}.js`, import.meta.url))))
  return hash.digest('hex').slice(0, 12)
}
