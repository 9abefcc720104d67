// Pending deletes: nothing is sent before a pause in which an editor, a larger intention or a touch may cancel it.
import * as z from 'zod'
import type { Ledger } from '../../cache/ledger/ledger.js'
import { asFailure, Failure } from '../../failure.js'
import type { Clock } from '../../remote/clock.js'
import type { Instant } from '../../remote/remote.js'
import { type CalculationNode, nodeKey, type RecordNode } from '../nodes/node.js'
import type { Scope } from './lineage.js'
import type { RemovalSeries } from './removal-series.js'

/** A report, a share, or a calculation whose folder was removed. */
export type Deletable = RecordNode | CalculationNode

export interface DeleteRequest {
  readonly node: Deletable
  readonly path: string
  /** What an intention that is larger may be about. */
  readonly scopes: readonly Scope[]
  /** Milliseconds without any removal before it is sent. */
  readonly pause: number
  readonly carryOut: () => Promise<void>
}

export interface PendingDelete extends DeleteRequest {
  readonly since: Instant
  readonly isSent: boolean
}

export interface PendingDeletes {
  begin(deletion: DeleteRequest): void
  /** It is hidden, or being deleted just now. */
  has(key: string): boolean
  readonly count: number
  /** The record that was unlinked at this path, and whose delete has not begun: making it again needs no lookup. */
  unlinkedAt(path: string): RecordNode | undefined
  /** It is not deleted. A delete that is on its way already is waited for; false if there was none to call off. */
  cancel(key: string): Promise<boolean>
  /** Calls off all of these that are not on their way; `why` is noted for each. */
  takeBack(which: (one: PendingDelete) => boolean, why: string): readonly PendingDelete[]
  waiting(): readonly PendingDelete[]
  /** Resolves when it waits no longer, whatever becomes of it. */
  settled(key: string): Promise<void>
  /** Begins what is due; nothing waits for it. */
  due(): void
  /**
   * The unmount: records are deleted at once, as an editor can no longer make them again. Calculations stay, and are
   * answered; the next mount says so.
   */
  end(): Promise<readonly PendingDelete[]>
}

interface QueuedDelete extends DeleteRequest {
  readonly since: Instant
  running: Promise<void> | undefined
  /** Called once it is deleted, or stays. */
  readonly settled: (() => void)[]
}

const journalForm = z.object({
  path: z.string(),
  isSent: z.boolean().optional(),
  node: z.union([
    z.object({
      kind: z.literal('record'),
      of: z.enum(['report', 'share']),
      id: z.string(),
      project: z.string().optional(),
    }),
    z.object({
      kind: z.literal('calculation'),
      id: z.string(),
      title: z.string(),
      parent: z.string().optional(),
    }),
  ]),
})

const interrupted = {
  sent: 'the daemon ended while this was being deleted: look whether it is still there',
  waiting: 'the drive ended in the pause before this was deleted: it was not deleted, and is as it was',
}

export interface PendingSources {
  readonly series: Pick<RemovalSeries, 'quietFor'>
  /** Kept over restarts, so that the next mount can say what a kill prevented; other mounts have their own. */
  readonly ledger: Ledger
  readonly mountPoint: string
  /** What a kill may have cut short is no longer known for sure. */
  readonly doubt: (node: Deletable) => void
  /** It is not deleted after all, or it is gone. */
  readonly ended: (node: Deletable, end: 'deleted' | 'stays', path: string) => void
  /** Something is hidden, or no longer, at every path that leads to it. */
  readonly changed: () => void
  /** Why something is there again, by the path at which it was removed. */
  readonly failed: (path: string, failure: Failure) => void
  readonly clock: Clock
}

export function openPendingDeletes(sources: PendingSources): PendingDeletes {
  const { clock, series, ledger, failed } = sources
  const { now } = clock
  const room = `deleting ${sources.mountPoint}`
  const pending = new Map<string, QueuedDelete>()
  for (const [key, { value }] of [...ledger.entries(room)]) {
    const { path, node, isSent } = journalForm.parse(JSON.parse(value))
    sources.doubt(node as Deletable)
    failed(path, new Failure('internal', isSent === false ? interrupted.waiting : interrupted.sent))
    ledger.delete(room, key)
  }

  function note(key: string, { path, node }: DeleteRequest, isSent: boolean): void {
    ledger.set(room, key, JSON.stringify({ path, node: journalled(node), isSent }))
    ledger.flush()
  }

  function end(key: string, one: QueuedDelete, how: 'deleted' | 'stays', untold?: 'last'): void {
    if (pending.get(key) === one) pending.delete(key)
    if (untold === undefined) ledger.delete(room, key)
    sources.ended(one.node, how, one.path)
    sources.changed()
    for (const tell of one.settled) tell()
  }

  function start(key: string, one: QueuedDelete, last?: 'last'): Promise<void> {
    if (pending.get(key) !== one) return Promise.resolve()
    if (one.running === undefined) {
      note(key, one, true)
      one.running = one.carryOut().then(
        () => end(key, one, 'deleted'),
        thrown => {
          failed(one.path, asFailure(thrown))
          // At an unmount no command of this mount can ask any more: the next mount says it.
          end(key, one, 'stays', last)
        },
      )
    }
    return one.running
  }

  /** Milliseconds until it may be sent. */
  const left = ({ since, pause }: QueuedDelete): number =>
    Math.max(pause - Math.abs(now() - since), pause - series.quietFor())

  function due(): void {
    for (const [key, one] of pending) if (left(one) <= 0) start(key, one).catch(alreadyNoted)
  }

  /** By its own timer, which goes on whatever becomes of the clock on the wall. */
  function wait(key: string, one: QueuedDelete): void {
    const check = (): void => {
      if (pending.get(key) !== one || one.running !== undefined) return
      if (left(one) <= 0) start(key, one).catch(alreadyNoted)
      else wait(key, one)
    }
    clock.after(Math.max(left(one), 0) + 20, check, 'in-background')
  }

  const seen = ({ running, settled: _, ...one }: QueuedDelete): PendingDelete => ({
    ...one,
    isSent: running !== undefined,
  })

  return {
    begin(deletion) {
      const key = nodeKey(deletion.node)
      note(key, deletion, false)
      const one: QueuedDelete = { ...deletion, since: now(), running: undefined, settled: [] }
      pending.set(key, one)
      wait(key, one)
      sources.changed()
    },
    has: key => pending.has(key),
    get count() {
      return pending.size
    },
    unlinkedAt(path) {
      for (const { node, path: at, running } of pending.values())
        if (at === path && running === undefined && node.kind === 'record') return node
      return undefined
    },
    async cancel(key) {
      const one = pending.get(key)
      if (one === undefined) return false
      if (one.running === undefined) end(key, one, 'stays')
      else await one.running
      return one.running === undefined
    },
    takeBack(which, why) {
      const back: PendingDelete[] = []
      for (const [key, one] of pending) {
        if (one.running !== undefined || !which(seen(one))) continue
        end(key, one, 'stays')
        failed(one.path, new Failure('not-permitted', `it was not deleted, and is as it was: ${why}`))
        back.push(seen(one))
      }
      return back
    },
    waiting: () => [...pending.values()].map(seen),
    settled: key =>
      new Promise(resolve => {
        const one = pending.get(key)
        if (one === undefined) resolve()
        else one.settled.push(resolve)
      }),
    due,
    async end() {
      const left = [...pending].filter(([, one]) => one.running === undefined && one.node.kind !== 'record')
      // Their timers go on for a moment, and find nothing.
      for (const [key] of left) pending.delete(key)
      await Promise.all([...pending].map(([key, one]) => start(key, one, 'last')))
      return left.map(([, one]) => seen(one))
    },
  }
}

/** What the next mount needs of it. */
function journalled(node: Deletable): object {
  if (node.kind === 'record') return node
  const { kind, id, title, parent } = node
  return { kind, id, title, parent }
}

/** `start` has noted every failure. */
function alreadyNoted(thrown: unknown): void {
  asFailure(thrown)
}
