// Process of a request: the thread group, session and ancestors of the thread that asks, as /proc tells them at once.
import { readFileSync } from 'node:fs'

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

/** Undefined for a thread that cannot be looked at. */
export function processOf(thread: number): ProcessId | undefined {
  const status = statusOf(thread)
  if (status === undefined) return undefined
  const ancestors: number[] = []
  for (let next = status.parent; next > firstProcess && ancestors.length < ancestorsAtMost; ) {
    ancestors.push(next)
    next = statusOf(next)?.parent ?? firstProcess
  }
  return { group: status.group, session: status.session, ancestors }
}

/** Of its thread group alone. */
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
  const numberIn = (field: string): number =>
    Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return { group: numberIn('Tgid'), session: numberIn('NSsid'), parent: numberIn('PPid') }
}
