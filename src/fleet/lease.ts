// Lease: one daemon asks the service for all; renewed until its value is put, or it is given up.
import { type Clock, every } from '../remote/clock.js'
import type { SealedName } from './seal.js'
import { type FleetStore, leaseMs, type Taken, type ValueLength } from './store.js'

/** What a daemon had of the fleet so far. */
export interface FleetCounts {
  /** Questions that were answered from the fleet: as many requests less. */
  hits: number
  /** Questions that this daemon asked the service for all. */
  asked: number
  /** Bytes of values that came from the fleet, and that were put there. */
  received: number
  sent: number
  /** Values that were damaged, forged or of another key. */
  wrong: number
}

export interface LeasePorts {
  readonly store: FleetStore
  readonly clock: Clock
  /** Of this daemon, in its leases. */
  readonly node: string
  readonly counts: FleetCounts
}

let asked = 0

export class Lease {
  readonly name: SealedName
  private readonly ports: LeasePorts
  private readonly length: ValueLength
  private readonly owner: string
  private stop = () => {}
  private isOver = false

  constructor(ports: LeasePorts, name: SealedName, length: ValueLength) {
    asked += 1
    this.ports = ports
    this.name = name
    this.length = length
    this.owner = `${ports.node}:${asked}`
  }

  /** The value of another daemon, or the lease; undefined where the fleet is passed by. */
  async take(leftMs: number): Promise<Taken | undefined> {
    const { store, clock } = this.ports
    const taken = await store.take(this.name, this.owner, leftMs, this.length).catch(() => undefined)
    if (taken?.is === 'leased')
      this.stop = every(clock, leaseMs / 4, () => void store.renew(this.name, this.owner).catch(() => {}))
    return taken
  }

  /** In the background. */
  put(value: Buffer, livesMs: number): void {
    if (!this.end()) return
    const { store, counts } = this.ports
    store.put(this.name, this.owner, value, livesMs, this.length).then(
      isThere => {
        if (isThere) counts.sent += value.length
      },
      () => {},
    )
  }

  /** The next one asks; safe at any time. */
  release(): void {
    if (this.end()) this.ports.store.release(this.name, this.owner).catch(() => {})
  }

  private end(): boolean {
    const isFirst = !this.isOver
    this.isOver = true
    this.stop()
    return isFirst
  }
}
