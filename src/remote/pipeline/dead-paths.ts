// Dead connections: after a silence the kernel is asked whether one leads nowhere; then all are renewed, and reads sent again.
import { Failure } from '../../failure.js'
import type { Clock } from '../clock.js'
import { isOtherServers } from '../other-server.js'

export interface DeadPaths {
  /** Something is waited for on a connection; the returned function ends that. `abort` is for what may be sent again. */
  await(abort?: (reason: Failure) => void): () => void
  /** An answer was useless, with this status. */
  answered(status: number, failure: Failure): void
}

interface DeadPathPorts {
  readonly clock: Clock
  /** Whether a connection of this process leads nowhere. */
  readonly isOneDead: () => Promise<boolean>
  readonly renew: () => void
}

/** Milliseconds of silence before the kernel is asked: it has then sent again twice, where nothing is far away. */
const silentFor = 700
/** Milliseconds between two questions, and in which a silence is noticed. */
const askedEvery = 1_000
const noticedIn = 200

/** What answers with a page or a redirect where the platform says JSON is another server: a captive portal, by a name that led there. */
const serverErrors = 500

interface Wait {
  readonly since: number
  readonly abort: ((reason: Failure) => void) | undefined
}

/** A slow service answers late, and acknowledges at once: its connections are never taken for dead. */
export function openDeadPaths({ clock, isOneDead, renew }: DeadPathPorts): DeadPaths {
  const waits = new Set<Wait>()
  let isLookDue = false
  let asked = Number.NEGATIVE_INFINITY
  let renewed = Number.NEGATIVE_INFINITY

  function lookLater(): void {
    if (isLookDue) return
    isLookDue = true
    clock.after(noticedIn, () => void look().finally(again), 'in-background')
  }

  function again(): void {
    isLookDue = false
    if (waits.size > 0) lookLater()
  }

  async function look(): Promise<void> {
    const now = clock.now()
    if (now < asked + askedEvery) return
    const longSilent = [...waits].filter(({ since }) => now - since >= silentFor)
    if (longSilent.length === 0) return
    asked = now
    if (!(await isOneDead())) return
    renew()
    for (const wait of longSilent) if (waits.has(wait)) wait.abort?.(died())
  }

  return {
    await(abort) {
      const wait = { since: clock.now(), abort }
      waits.add(wait)
      lookLater()
      return () => void waits.delete(wait)
    },
    answered(status, { kind }) {
      const isOfAnother = kind === 'broken' && (status < serverErrors || isOtherServers(status))
      if (!isOfAnother || clock.now() < renewed + askedEvery) return
      renewed = clock.now()
      renew()
    },
  }
}

const died = (): Failure =>
  new Failure('unreachable', 'the connection to the service led nowhere any more', {
    cause: new Error('replaced by another connection'),
  })
