// Late changes: what the others could not be told while the fleet was away is told when it is back.
import { noop } from '../../noop.js'
import type { FleetStore } from '../engine/fleet-store.js'
import type { SealedName } from '../engine/seal.js'
import type { ChangeElsewhere, FleetNews } from './fleet-news.js'

/** A change by this daemon: what lies under the name is over. */
export interface FleetChange {
  readonly name: SealedName
  /** What takes its place for so many milliseconds, if anything. */
  readonly value: Buffer | undefined
  readonly livesMs: number
  /** Undefined where another change of the same thing tells it. */
  readonly news: ChangeElsewhere | undefined
}

export interface LateChanges {
  /** Now, or as soon as the fleet is back; in this order: a daemon that hears of it finds the new value, or none. */
  make(change: FleetChange): void
  /** The fleet is back. */
  resend(): void
}

/** More of them are told as one. */
const atMost = 4_096

export interface LateChangesPorts {
  readonly store: FleetStore
  /** This daemon. */
  readonly node: string
  readonly news: () => FleetNews
  /** Another daemon has changed the same thing lately: what this one knows of it may be older. */
  readonly crossed: (change: ChangeElsewhere) => void
}

export function openLateChanges({ store, node, news, crossed }: LateChangesPorts): LateChanges {
  const late = new Map<SealedName, FleetChange>()

  function make(change: FleetChange): void {
    const { name, value, livesMs } = change
    store.answers.replace(name, node, value, livesMs).then(
      isAlone => {
        late.delete(name)
        if (change.news === undefined) return
        news().tell(change.news)
        if (!isAlone) crossed(change.news)
      },
      () => {
        // By the time it is back, this value is old.
        late.delete(name)
        late.set(name, { ...change, value: undefined })
      },
    )
  }

  return {
    make,
    resend() {
      const all = [...late.values()]
      late.clear()
      for (const change of all.slice(0, atMost)) make(change)
      if (all.length <= atMost) return
      for (const { name } of all.slice(atMost)) store.answers.change(name, undefined, 0).catch(noop)
      news().tell({ is: 'all' })
    },
  }
}
