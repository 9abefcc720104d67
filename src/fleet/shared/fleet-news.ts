// Fleet news: what one daemon has changed, the others hear; what was said during a break, none of them knows.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { NewsCarrier } from '../engine/fleet-store.js'
import type { Seal } from '../engine/seal.js'

/** What is another one now. */
export type ChangeElsewhere =
  | { readonly is: 'answer'; readonly namespace: string; readonly key: string; readonly lifetime: number }
  /** A content, by its name in the cache. */
  | { readonly is: 'content'; readonly name: string }
  | { readonly is: 'all' }

export interface FleetNews {
  tell(change: ChangeElsewhere): void
  /** Milliseconds that the last news of this daemon took to come back to it; undefined while it is not heard. */
  readonly lagMs: number | undefined
  /** Resolves when it was heard for the first time. */
  readonly heard: Promise<void>
  /** The fleet is used again: no need to wait for the next echo. What could not be told is told now. */
  back(): void
  end(): void
}

export interface FleetNewsPorts {
  readonly carrier: NewsCarrier
  readonly seal: Seal
  readonly clock: Clock
  readonly node: string
  readonly hear: (change: ChangeElsewhere) => void
  /** News may have been missed until now. */
  readonly missed: () => void
}

/** A daemon hears itself this often, in milliseconds; what it has not heard for longer, it takes for a break. */
const echoMs = 500
const silentMs = 1_200
/** A connection that brings nothing for so long while the fleet takes commands is replaced; as long again for the next one. */
const deafMs = 5_000
/** Of what could not be told, more than this is told as one. */
const untoldAtMost = 4_096

export function openFleetNews({ carrier, seal, clock, node, hear, missed }: FleetNewsPorts): FleetNews {
  const name = seal.nameOf('news', '')
  let heardAt = Number.NEGATIVE_INFINITY
  const began = clock.now()
  let lagMs: number | undefined
  let replacedAt = Number.NEGATIVE_INFINITY
  let isBroken = true
  /** The number of the last news that came; undefined where none is known. */
  let last: number | undefined
  /** What the fleet did not take, by its text. */
  const untold = new Map<string, ChangeElsewhere>()
  let stop = noop
  let isHeard = noop
  const heard = new Promise<void>(resolve => {
    isHeard = resolve
  })

  /** Its own voice came through: what was said since the last news, or since a break, may have been missed. */
  function echoed(number: number | undefined, message: Buffer): void {
    heardAt = clock.now()
    lagMs = heardAt - Number(message.toString('latin1'))
    const isWhole = !isBroken && number !== undefined && number === last
    isBroken = false
    last = number
    if (!isWhole) missed()
    isHeard()
  }

  function told(number: number | undefined, message: Buffer): void {
    if (last !== undefined && number === last + 1) last = number
    const opened = seal.open(name, message)
    if (opened === undefined) {
      // Of another version of calcfs: what it has changed is not known here.
      missed()
      return
    }
    const { from, change } = JSON.parse(opened.plain.toString('utf8')) as {
      from: string
      change: ChangeElsewhere
    }
    if (from !== node) hear(change)
  }

  const listen = (): void =>
    carrier.listen(name, node, (what, number, message) =>
      what === 'echo' ? echoed(number, message) : told(number, message),
    )

  function echo(): void {
    stop()
    if (clock.now() - heardAt > silentMs) {
      isBroken = true
      lagMs = undefined
      // A server that was set up again, or a slot that moved, has forgotten who listens.
      listen()
    }
    carrier.echo(name, node, Buffer.from(String(clock.now()))).then(() => {
      // The fleet takes commands, and its words do not come: until they do, nothing that is known counts for long.
      const silence = clock.now() - Math.max(heardAt, began)
      if (silence > silentMs) missed()
      if (silence < deafMs || clock.now() - replacedAt < deafMs) return
      replacedAt = clock.now()
      carrier.reconnect()
    }, noop)
    stop = clock.after(echoMs, echo, 'in-background')
  }

  function tell(change: ChangeElsewhere): void {
    const plain = Buffer.from(JSON.stringify({ from: node, change }))
    carrier.tell(name, seal.close(name, plain)).catch(() => untold.set(JSON.stringify(change), change))
  }

  function back(): void {
    echo()
    const all = [...untold.values()]
    untold.clear()
    for (const change of all.length > untoldAtMost ? [{ is: 'all' } as const] : all) tell(change)
  }

  echo()

  return {
    tell,
    get lagMs() {
      return lagMs
    },
    heard,
    back,
    end() {
      stop()
    },
  }
}
