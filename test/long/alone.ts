// Runs one figure in a process of its own, with a time limit; what it leaves behind is found, ended and counted as wrong.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { run } from '../testbed/programs.js'
import type { Order, Result } from './engine.js'

const child = fileURLToPath(new URL('child.js', import.meta.url))
/** Characters of a crash that are shown. */
const shownAtMost = 4_000
/** Bytes: the caches of a few daemons, and bodies of 20 MB. */
const roomNeeded = 8 * 2 ** 30

const message = z.union([
  z.object({ line: z.string() }),
  z.object({
    result: z.object({
      counts: z.record(z.string(), z.number()),
      wrong: z.array(z.string()),
      short: z.string().optional(),
    }),
  }),
])

/**
 * The result of a figure. One that crashes, that is still running after `limit` milliseconds, or that leaves a process
 * or a mount behind is a wrong one. `signal` ends it where the run is interrupted.
 */
export async function alone(
  order: Order,
  limit: number,
  say: (line: string) => void,
  signal = new AbortController().signal,
): Promise<Result> {
  const home = await mkdtemp(join(await groundOf(order), 'calcfs-long-'))
  const started = spawn(process.execPath, ['--stack-trace-limit=20', child, JSON.stringify(order)], {
    // Programs on a drive wait in these threads for its service, which is in the same process.
    env: { ...process.env, NODE_OPTIONS: undefined, TMPDIR: home, UV_THREADPOOL_SIZE: '64' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  })
  let result: Result | undefined
  let complaint = ''
  started.stderr?.on('data', piece => {
    complaint = `${complaint}${piece}`.slice(-shownAtMost)
  })
  started.on('message', received => {
    const known = message.parse(received)
    if ('line' in known) return say(known.line)
    result = known.result
  })
  const kill = (): void => {
    if (started.pid !== undefined) process.kill(-started.pid, 'SIGKILL')
  }
  let late = false
  const timer = setTimeout(() => {
    late = true
    kill()
  }, limit)
  signal.addEventListener('abort', kill)
  const [code] = await once(started, 'close')
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  const left = await cleanUp(home)
  const wrong = [
    ...(late ? [`still running after ${limit} ms, ended`] : []),
    ...(result === undefined && !late && !signal.aborted ? [`ended with ${code}: ${complaint.trim()}`] : []),
    ...(result === undefined ? [] : left.map(what => `left behind: ${what}`)),
  ]
  return { counts: {}, ...result, wrong: [...(result?.wrong ?? []), ...wrong] }
}

/** Twice as many cases in a night where no disk is waited for: a file system in memory, if it has room for a figure. */
async function groundOf({ scale }: Order): Promise<string> {
  const memory = '/dev/shm'
  if (scale === 'cut' || process.env['TMPDIR'] !== undefined) return tmpdir()
  const room = await statfs(memory).catch(() => undefined)
  return room !== undefined && room.bavail * room.bsize > roomNeeded ? memory : tmpdir()
}

/** Ends every process and takes away every mount that belongs to this directory, and the directory. */
async function cleanUp(home: string): Promise<string[]> {
  const processes = await processesOf(home)
  for (const { pid } of processes) process.kill(pid, 'SIGKILL')
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .flatMap(line => line.split(' ')[4] ?? [])
    .filter(point => point.startsWith(`${home}/`))
  for (const point of mounts) await run('fusermount', ['-u', '-z', point])
  // A daemon that was killed a moment ago may still write.
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  return [...processes.map(({ command }) => command), ...mounts.map(point => `the mount ${point}`)]
}

/** Every process that was started with this directory as its own. */
async function processesOf(home: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = []
  for (const name of await readdir('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    // A process that has ended meanwhile, or belongs to another user, is none of these.
    const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
    const command = await read('cmdline')
    if (!`${await read('environ')}\0${command}`.includes(home) || command === '') continue
    found.push({ pid, command: command.replaceAll('\0', ' ').trim().slice(0, 200) })
  }
  return found
}
