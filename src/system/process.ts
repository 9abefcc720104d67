// Processes by their number: whether one runs, is stopped or has ended, whether it is still the same one, and which one a thread belongs to.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf, isMissing } from './error-code.js'

interface RunningProcess {
  /** Stopped by a signal or a debugger: it does not answer until it is continued. */
  readonly isStopped: boolean
  /** Its main thread runs, or waits for a processor. */
  readonly isBusy: boolean
  /** Its owner; undefined where the system does not show it. */
  readonly user: number | undefined
  /** Opaque: boot and start time, unique to one process; undefined where the system does not show it. */
  readonly started: string | undefined
}

/** The process with this number; undefined where it has ended, a zombie included. */
export async function processAt(pid: number): Promise<RunningProcess | undefined> {
  return process.platform === 'linux' ? inProc(pid) : inPs(pid)
}

export const isProcessAlive = async (pid: number): Promise<boolean> => (await processAt(pid)) !== undefined

/** proc_pid_stat(5): fields 3 and 22 are the state and the start in clock ticks since boot; the name in field 2 may hold anything. */
async function inProc(pid: number): Promise<RunningProcess | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
    const status = await readFile(`/proc/${pid}/status`, 'latin1')
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const user = /^Uid:\s+(\d+)/m.exec(status)?.[1]
    return running(fields[0], user, `${boot} ${fields[19]}`)
  } catch (thrown) {
    if (isMissing(thrown) || codeOf(thrown) === 'ESRCH') return hidden(pid)
    throw thrown
  }
}

/** With the option hidepid, /proc shows only the user's own processes; signal 0 shows that another user's exists. */
function hidden(pid: number): RunningProcess | undefined {
  try {
    process.kill(pid, 0)
    // It ended, or started, between the two checks: not the process in question.
    return undefined
  } catch (thrown) {
    if (codeOf(thrown) !== 'EPERM') return undefined
    return { isStopped: false, isBusy: false, user: undefined, started: undefined }
  }
}

/** ps ends with 1 and prints nothing where the process is gone. */
async function inPs(pid: number): Promise<RunningProcess | undefined> {
  try {
    const columns = ['-o', 'state=', '-o', 'uid=', '-o', 'lstart=']
    const { stdout } = await promisify(execFile)('ps', [...columns, '-p', String(pid)])
    const [, state, user, started] = /^\s*(\S+)\s+(\d+)\s+(.*\S)\s*$/.exec(stdout) ?? []
    return running(state, user, started)
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 1) return undefined
    throw thrown
  }
}

/** A zombie has ended, and a dying process is about to: neither runs any code. */
function running(
  state: string | undefined,
  user: string | undefined,
  started: string | undefined,
): RunningProcess | undefined {
  if (state === undefined || /^[ZXx]/.test(state)) return undefined
  const [isStopped, isBusy] = [/^[Tt]/.test(state), /^R/.test(state)]
  return { isStopped, isBusy, user: user === undefined ? undefined : Number(user), started }
}

/** By their numbers; the ancestors are the nearest first. */
export interface ProcessId {
  readonly group: number
  readonly session: number
  readonly ancestors: readonly number[]
  /** By which of a record's files it reads and writes, where that is not the record itself. */
  readonly view?: 'order'
}

/** Beyond so many a program and its ancestor have little to do with each other. */
const ancestorsAtMost = 8
/** The parent of all is an ancestor of every program. */
const firstProcess = 1

/** A program that walks opens many files in a row. */
let last:
  | { readonly thread: number; readonly at: number; readonly process: ProcessId | undefined }
  | undefined
/** Milliseconds; no number is used again within them. */
const sameForMs = 100

/** Undefined for a thread that cannot be looked at. */
export function processOf(thread: number): ProcessId | undefined {
  const at = performance.now()
  if (last?.thread !== thread || at - last.at > sameForMs) last = { thread, at, process: lookedUp(thread) }
  return last.process
}

function lookedUp(thread: number): ProcessId | undefined {
  const status = statusOf(thread)
  if (status === undefined) return undefined
  const ancestors: number[] = []
  for (let next = status.parent; next > firstProcess && ancestors.length < ancestorsAtMost; ) {
    ancestors.push(next)
    next = statusOf(next)?.parent ?? firstProcess
  }
  return { group: status.group, session: status.session, ancestors }
}

export const groupOf = (thread: number): number | undefined => statusOf(thread)?.group

/**
 * `/proc/PID/status`, proc_pid_status(5); undefined for a thread that has ended, or lies in another pid name space: that has the
 * number 0. Nothing else is read there: `/proc/PID/stat` waits for a child in exec, which may wait for this daemon.
 */
export function statusTextOf(thread: number): string | undefined {
  if (thread === 0) return undefined
  try {
    return readFileSync(`/proc/${thread}/status`, 'latin1')
  } catch {
    return undefined
  }
}

function statusOf(thread: number) {
  const text = statusTextOf(thread)
  if (text === undefined) return undefined
  return {
    group: Number(/^Tgid:\s*(\d+)/m.exec(text)?.[1] ?? 0),
    session: Number(/^NSsid:\s*(\d+)/m.exec(text)?.[1] ?? 0),
    parent: Number(/^PPid:\s*(\d+)/m.exec(text)?.[1] ?? 0),
  }
}
