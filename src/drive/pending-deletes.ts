// An unlinked record is deleted on the service only after the pause in which an editor would make it anew: the one deferred answer.
import { z } from 'zod'
import type { Ledger } from '../cache/ledger.js'
import { asFailure, Failure } from '../failure.js'
import type { Instant } from '../remote/remote.js'
import { keyOf, type RecordNode } from './node.js'

export interface PendingDeletes {
  /** The record's file was unlinked: `carryOut` is called unless it is made anew before the pause is over. */
  begin(node: RecordNode, path: string, carryOut: () => Promise<void>): void
  /** It is hidden, or being deleted just now. */
  has(key: string): boolean
  /** The record that was unlinked at this path, and whose delete has not begun: whoever makes it anew need ask nobody. */
  unlinkedAt(path: string): RecordNode | undefined
  /** Somebody makes the file anew. A delete that is on its way already is waited for. */
  cancel(key: string): Promise<void>
  /** What was unlinked below this directory a moment ago is not deleted after all. */
  cancelBelow(directory: string): void
  /** Begins what is due; nobody waits for it. */
  due(): void
  /** Carries out everything at once, as an unmount does. */
  all(): Promise<void>
}

interface Pending {
  readonly path: string
  readonly node: RecordNode
  readonly due: number
  readonly carryOut: () => Promise<void>
  running: Promise<void> | undefined
}

const journalForm = z.object({
  path: z.string(),
  node: z.object({
    kind: z.literal('record'),
    of: z.enum(['report', 'share']),
    id: z.string(),
    project: z.string().optional(),
  }),
})

/** `failed` is told why a file came back, by the path at which it was unlinked. */
export function openPendingDeletes(
  pauseMs: number,
  sources: {
    /** Kept over restarts, so that somebody is told what a kill prevented; other mounts have their own. */
    readonly ledger: Ledger
    readonly mountPoint: string
    /** What a kill may have cut short is no longer known for sure. */
    readonly doubt: (node: RecordNode) => void
    readonly failed: (path: string, failure: Failure) => void
    readonly now: () => Instant
  },
): PendingDeletes {
  const { ledger, failed, now } = sources
  const room = `deleting ${sources.mountPoint}`
  const pending = new Map<string, Pending>()
  for (const [key, { value }] of [...ledger.entries(room)]) {
    const { path, node } = journalForm.parse(JSON.parse(value))
    sources.doubt(node as RecordNode)
    failed(
      path,
      new Failure(
        'internal',
        'the daemon ended while this was being deleted: look whether it is still there',
      ),
    )
    ledger.delete(room, key)
  }

  function end(key: string, untold?: 'last'): void {
    pending.delete(key)
    if (untold === undefined) ledger.delete(room, key)
  }

  /** By its own timer, whatever the clock on the wall says meanwhile; a file that was made anew is not deleted. */
  function start(key: string, one: Pending, last?: 'last'): Promise<void> {
    if (pending.get(key) !== one) return Promise.resolve()
    one.running ??= one.carryOut().then(
      () => end(key),
      thrown => {
        failed(one.path, asFailure(thrown))
        // At an unmount nobody hears of it in this life any more: the next mount tells.
        end(key, last)
      },
    )
    return one.running
  }

  function due(): void {
    for (const [key, one] of pending) if (one.due <= now()) start(key, one).catch(neverHappens)
  }

  return {
    begin(node, path, carryOut) {
      const key = keyOf(node)
      ledger.set(room, key, JSON.stringify({ path, node }))
      ledger.flush()
      const one: Pending = { path, node, due: now() + pauseMs, carryOut, running: undefined }
      pending.set(key, one)
      setTimeout(() => start(key, one).catch(neverHappens), pauseMs + 20).unref()
    },
    has: key => pending.has(key),
    unlinkedAt: path =>
      [...pending.values()].find(one => one.path === path && one.running === undefined)?.node,
    async cancel(key) {
      const one = pending.get(key)
      if (one?.running !== undefined) await one.running
      else if (one !== undefined) end(key)
    },
    cancelBelow(directory) {
      for (const [key, one] of pending) {
        if (one.running !== undefined || !one.path.startsWith(`${directory}/`)) continue
        end(key)
        failed(
          one.path,
          new Failure('not-permitted', `it stays: ${directory} is not deleted with all that is in it`),
        )
      }
    },
    due,
    async all() {
      await Promise.all([...pending].map(([key, one]) => start(key, one, 'last')))
    },
  }
}

/** `start` has told of every failure. */
function neverHappens(thrown: unknown): void {
  asFailure(thrown)
}
