// Compared mounts: every one that a user would pick, and the two floors (a disk, a file system in memory).
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isProcessAlive } from '../../src/system/process.js'
import { isMounted, unmount } from '../processes/mounts.js'
import type { TreeName } from '../trees/trees.js'

/** The addresses of the tree, all behind the same delay. */
export interface Doors {
  readonly tree: TreeName
  readonly rest: string
  readonly files: string
  readonly dav: string
  /** The tree on the local disk. */
  readonly disk: string
  /** PEM file with the authority of the REST door; undefined where it speaks no TLS. */
  readonly authorityFile?: string
  /** A port under which a server of this machine is reached with the same delay. */
  delayed(port: number): Promise<Delayed>
}

/** A way to a server, until it is stopped. */
export interface Delayed {
  readonly port: number
  stop(): Promise<void>
}

/** What a peer has for itself alone; made before it is mounted. */
export interface Place {
  readonly mountPoint: string
  /** Empty for a cold run, and what the mount before left for a remount. */
  readonly cache: string
  readonly log: string
}

export interface Mounted {
  /** The directory that the tree's top is shown in. */
  readonly root: string
  /** The processes that serve the mount, without their children; empty where the kernel alone does. */
  readonly processes: readonly number[]
  /** Lines that do a workload in another way than by its own line, by the workload's name. */
  readonly lines?: Readonly<Record<string, string>>
  unmount(): Promise<void>
}

export interface Peer {
  readonly name: string
  /** Notes for the reader of the table: which options, which part of it counts. */
  readonly options: string
  /** Whether its requests pass the origin's counters. */
  readonly counted: boolean
  /** Why it cannot take part on this machine; undefined where it can. */
  lacks(): string | undefined
  mount(doors: Doors, place: Place): Promise<Mounted>
}

/** Seconds that a mount may take to come up, and its program to end once it is unmounted. */
export const patienceSeconds = 30
const endsWithinSeconds = 10

/** A command's place on this machine, the administrator's directories included. */
export function commandPath(name: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return places.map(place => join(place, name)).find(path => existsSync(path))
}

/** The usual reason for `lacks`: a command that is not there. */
export const needs =
  (...commands: readonly string[]) =>
  (): string | undefined => {
    const missing = commands.filter(command => commandPath(command) === undefined)
    return missing.length === 0 ? undefined : `${missing.join(' and ')} not installed`
  }

/** A program that stays in the foreground as long as the mount lives. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a program whose output goes to the log; it is not waited for. */
export function startProgram({ command, args, environment }: Program, log: string): ChildProcess {
  const file = openSync(log, 'a')
  try {
    return spawn(commandPath(command) ?? command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', file, file],
    })
  } finally {
    closeSync(file)
  }
}

/**
 * Starts a program that mounts, and waits until the kernel lists its mount.
 * @throws Error with the end of its log where it ends or takes over half a minute
 */
export async function mountWith(program: Program, place: Place): Promise<Mounted> {
  const child = startProgram(program, place.log)
  const failed = once(child, 'error').then(([cause]) => Promise.reject(cause))
  await Promise.race([failed, isUp(child, place)])
  return {
    root: place.mountPoint,
    processes: child.pid === undefined ? [] : [child.pid],
    unmount: () => unmountAndEnd(child, place),
  }
}

async function isUp(child: ChildProcess, place: Place): Promise<void> {
  const limit = Date.now() + patienceSeconds * 1000
  while (!(await isMounted(place.mountPoint))) {
    const ended = child.exitCode !== null || child.signalCode !== null
    if (!ended && Date.now() < limit) {
      await wait(5)
      continue
    }
    child.kill('SIGKILL')
    throw new Error(`${child.spawnfile} did not mount: ${lastWords(place.log)}`)
  }
}

/** The last lines of a log, as one. */
export const lastWords = (log: string): string =>
  readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' | ').slice(-400)

async function unmountAndEnd(child: ChildProcess, place: Place): Promise<void> {
  const gone = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')
  await unmount(place.mountPoint)
  const late = wait(endsWithinSeconds * 1000, 'late' as const, { ref: false })
  if ((await Promise.race([gone, late])) === 'late') child.kill('SIGKILL')
}

/** Waits for a process that is no child, such as one that went to the background. */
export async function ended(pid: number): Promise<void> {
  const limit = Date.now() + endsWithinSeconds * 1000
  while ((await isProcessAlive(pid)) && Date.now() < limit) await wait(20)
  if (await isProcessAlive(pid)) process.kill(pid, 'SIGKILL')
}
