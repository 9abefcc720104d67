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
  /** Somebody makes the file anew. A delete that is on its way already is waited for. */
  cancel(key: string): Promise<void>
  /** Carries out what is due; with `all` also what is not due yet, as an unmount does. */
  run(all?: 'all'): Promise<void>
}

interface Pending {
  readonly path: string
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

  function end(key: string): void {
    pending.delete(key)
    ledger.delete(room, key)
  }

  function start(key: string, one: Pending): Promise<void> {
    one.running ??= one
      .carryOut()
      .catch(thrown => failed(one.path, asFailure(thrown)))
      .finally(() => end(key))
    return one.running
  }

  async function run(all?: 'all'): Promise<void> {
    if (pending.size === 0) return
    const due = [...pending].filter(([, one]) => all === 'all' || one.due <= now())
    await Promise.all(due.map(([key, one]) => start(key, one)))
  }

  return {
    begin(node, path, carryOut) {
      const key = keyOf(node)
      ledger.set(room, key, JSON.stringify({ path, node }))
      ledger.flush()
      pending.set(key, { path, due: now() + pauseMs, carryOut, running: undefined })
      setTimeout(() => run().catch(neverHappens), pauseMs + 20).unref()
    },
    has: key => pending.has(key),
    async cancel(key) {
      const one = pending.get(key)
      if (one?.running !== undefined) await one.running
      else if (one !== undefined) end(key)
    },
    run,
  }
}

/** `start` has told of every failure. */
function neverHappens(thrown: unknown): void {
  asFailure(thrown)
}
