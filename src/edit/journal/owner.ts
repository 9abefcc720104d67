// Owner of a draft: its process, distinguished from a later one with the same number.
import { processAt } from '../../system/process.js'

/** `started` is opaque: equal only for one and the same process. */
export interface Owner {
  readonly pid: number
  readonly started: string
}

/** No process: what it owns may be taken. */
export const noOwner: Owner = { pid: 0, started: 'ended' }

/** This very process. */
export async function thisProcess(): Promise<Owner> {
  const started = (await processAt(process.pid))?.started
  if (started === undefined) throw new Error('this process cannot be found in the list of processes')
  return { pid: process.pid, started }
}

/** True while the process that wrote this still runs. */
export async function isOwnerAlive(owner: Owner): Promise<boolean> {
  return (await processAt(owner.pid))?.started === owner.started
}
