// Fleet nodes: which daemons share the fleet now, and what each of them had of it.
import { noop } from '../noop.js'
import type { Clock } from '../remote/clock.js'
import type { FleetStore } from './engine/fleet-store.js'
import type { Seal } from './engine/seal.js'
import type { FleetCounts } from './shared/shared-value.js'

export interface FleetNode extends Readonly<FleetCounts> {
  readonly host: string
  readonly pid: number
}

export interface FleetNodes {
  /** How many there were at the last look, this one included. */
  readonly count: number
  /** All of them. @throws FleetAway */
  all(): Promise<readonly FleetNode[]>
  /** The fleet is used again. */
  back(): void
  end(): Promise<void>
}

export interface FleetNodesPorts {
  readonly store: FleetStore
  readonly seal: Seal
  readonly clock: Clock
  readonly node: string
  readonly own: () => FleetNode
}

/** A daemon says this often that it is there, in milliseconds, and is forgotten after so many without. */
const beatMs = 1_000
const forgottenMs = 5_000

export function openFleetNodes({ store, seal, clock, node, own }: FleetNodesPorts): FleetNodes {
  const name = seal.nameOf('nodes', '')
  let count = 1
  let stop = noop
  let isEnded = false

  async function beat(): Promise<void> {
    stop()
    try {
      const value = seal.close(name, Buffer.from(JSON.stringify(own())))
      const found = await store.beat(name, node, value, forgottenMs)
      if (Number.isSafeInteger(found)) count = Math.max(1, found)
    } catch {
      // It is passed by, and says why itself; most likely there are as many as before.
    }
    if (!isEnded) stop = clock.after(beatMs, () => void beat(), 'in-background')
  }
  void beat()

  return {
    back: () => void beat(),
    get count() {
      return count
    },
    async all() {
      const values = await store.nodes(name)
      return values.flatMap(value => {
        const opened = seal.open(name, value)
        return opened === undefined ? [] : [JSON.parse(opened.plain.toString('utf8')) as FleetNode]
      })
    },
    async end() {
      isEnded = true
      stop()
      await store.leave(name, node).catch(noop)
    },
  }
}
