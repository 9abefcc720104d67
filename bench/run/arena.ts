// One tree at one distance: the origin's doors behind the delay, the same tree on the local disk, and the counters.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Counts } from '../origin/counts.js'
import type { Doors } from '../peers/peers.js'
import { type Running, startOrigin, startRelay } from '../processes/start.js'
import { writeTree } from '../trees/disk.js'
import { type TreeName, treeOf } from '../trees/trees.js'

export interface Arena {
  readonly tree: TreeName
  /** Milliseconds that every round trip takes longer. */
  readonly roundTrip: number
  readonly doors: Doors
  /** The requests since the last call. */
  counts(): Promise<Counts>
  close(): Promise<void>
}

/** Starts an origin for the tree. The tree on the disk is written below `base` once and found again. */
export async function openArena(tree: TreeName, roundTrip: number, base: string): Promise<Arena> {
  const disk = await onDisk(tree, base)
  const origin = await startOrigin({ tree })
  const running: Running[] = [origin]

  async function delayed(port: number): Promise<number> {
    if (roundTrip === 0) return port
    const relay = await startRelay({ to: port, delay: roundTrip })
    running.unshift(relay)
    return relay.port
  }

  async function behind(url: string): Promise<string> {
    const there = new URL(url)
    there.port = String(await delayed(Number(there.port)))
    return url.endsWith('/') ? there.href : there.href.replace(/\/$/, '')
  }

  const { rest, files, dav } = origin
  return {
    tree,
    roundTrip,
    doors: {
      tree,
      disk,
      delayed,
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

/** Moved into place when it is whole, so that half a tree is never taken for one; rewritten where its recipe changed. */
async function onDisk(tree: TreeName, base: string): Promise<string> {
  const directory = join(base, `${tree}-${recipe()}`)
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
  for (const name of ['trees', 'bytes', 'paths', 'disk'])
    hash.update(readFileSync(fileURLToPath(new URL(`../trees/${name}.js`, import.meta.url))))
  return hash.digest('hex').slice(0, 12)
}
