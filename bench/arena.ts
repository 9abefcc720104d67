// One tree at one distance: the origin's doors behind the delay, the same tree on the local disk, and the counters.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Counts } from './origin-counts.js'
import type { Doors } from './peers.js'
import { type TreeName, treeOf } from './trees.js'
import { writeTree } from './trees-disk.js'

export interface Arena {
  readonly tree: TreeName
  /** Milliseconds that every round trip takes longer. */
  readonly roundTrip: number
  readonly doors: Doors
  /** What was asked since the last call. */
  counts(): Promise<Counts>
  close(): Promise<void>
}

interface Started {
  readonly rest: string
  readonly files: string
  readonly dav: string
  readonly counts: string
}

/** Starts an origin for the tree. The tree on the disk is written below `base` once and found again. */
export async function openArena(tree: TreeName, roundTrip: number, base: string): Promise<Arena> {
  const disk = await onDisk(tree, base)
  const relays: Part<{ readonly port: number }>[] = []
  const origin = await startPart<Started>('origin.js', ['--tree', tree])

  async function behind(url: string): Promise<string> {
    const there = new URL(url)
    there.port = String(await delayed(Number(there.port)))
    return url.endsWith('/') ? there.href : there.href.replace(/\/$/, '')
  }

  async function delayed(port: number): Promise<number> {
    if (roundTrip === 0) return port
    const args = ['--to', `127.0.0.1:${port}`, '--delay', String(roundTrip)]
    const relay = await startPart<{ readonly port: number }>('relay.js', args)
    relays.push(relay)
    return relay.said.port
  }

  const { rest, files, dav, counts } = origin.said
  return {
    tree,
    roundTrip,
    doors: { rest: await behind(rest), files: await behind(files), dav: await behind(dav), disk, delayed },
    async counts() {
      const answer = await fetch(counts)
      return (await answer.json()) as Counts
    },
    async close() {
      for (const part of [...relays, origin]) await part.stop()
    },
  }
}

interface Part<Said> {
  /** The line of JSON that it printed once it was ready. */
  readonly said: Said
  stop(): Promise<void>
}

/** Starts a program of the bench as a process of its own; it ends with this one. */
async function startPart<Said>(file: string, args: readonly string[]): Promise<Part<Said>> {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const gone = once(child, 'exit')
  const early = gone.then(() => Promise.reject(new Error(`${file} ended before it was ready`)))
  const { stdout } = child
  if (stdout === null) throw new Error(`${file} has no output`)
  const [line] = await Promise.race([once(createInterface({ input: stdout }), 'line'), early])
  // From here on its end is what somebody asked for.
  early.catch(() => undefined)
  return {
    said: JSON.parse(line) as Said,
    async stop() {
      child.kill()
      await gone
    },
  }
}

/** Moved into place when it is whole, so that half a tree is never taken for one. */
async function onDisk(tree: TreeName, base: string): Promise<string> {
  const directory = join(base, `tree-${tree}`)
  if (existsSync(directory)) return directory
  const half = `${directory}.half`
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half, { recursive: true })
  await writeTree(treeOf(tree), half)
  renameSync(half, directory)
  return directory
}
