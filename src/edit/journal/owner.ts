// Which process a draft belongs to, told apart from a later one that got the same number.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf, isMissing } from '../../system/error-code.js'

/** `started` is opaque: boot and start time, equal only for one and the same process. */
export interface Owner {
  readonly pid: number
  readonly started: string
}

/** No process: what it owns may be taken. */
export const nobody: Owner = { pid: 0, started: 'ended' }

/** This very process. */
export async function thisProcess(): Promise<Owner> {
  const started = await startTimeOf(process.pid)
  if (started === undefined) throw new Error('this process cannot be found in the list of processes')
  return { pid: process.pid, started }
}

/** True while the process that wrote this still runs. */
export async function isOwnerAlive(owner: Owner): Promise<boolean> {
  return (await startTimeOf(owner.pid)) === owner.started
}

/** Undefined where no such process runs. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? startInProc(pid) : startInPs(pid)
}

/** proc_pid_stat(5): field 22 is the start in clock ticks since boot; the name in field 2 may hold anything. */
async function startInProc(pid: number): Promise<string | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'latin1')
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim()
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended, and a dying process ends: neither writes any more.
    return /^[ZXx]$/.test(fields[0] ?? '') ? undefined : `${boot} ${fields[19]}`
  } catch (thrown) {
    if (isMissing(thrown) || codeOf(thrown) === 'ESRCH') return undefined
    throw thrown
  }
}

/** ps ends with 1 and prints nothing where the process is gone. */
async function startInPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)])
    return stdout.trim()
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 1) return undefined
    throw thrown
  }
}
