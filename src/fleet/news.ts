// News of a fleet: what one daemon has changed, the others hear; a beat twice a second notices what was not heard.
import type { Clock } from '../remote/clock.js'
import type { Seal, SealedName } from './seal.js'
import type { FleetStore } from './store.js'

/** The things that are other ones now. */
export type ChangeElsewhere =
  | { readonly is: 'answer'; readonly namespace: string; readonly key: string; readonly lifetime: number }
  /** A content, by its name in the cache. */
  | { readonly is: 'content'; readonly name: string }
  | { readonly is: 'all' }

export interface FleetNewsPorts {
  readonly store: FleetStore
  readonly seal: Seal
  readonly clock: Clock
  readonly node: string
  readonly name: SealedName
  readonly heard: (change: ChangeElsewhere) => void
  /** News may have been missed until now. */
  readonly missed: () => void
}

/** Milliseconds without a beat after which a daemon is no node any more. */
const forgottenMs = 5_000

export class FleetNews {
  /** How many daemons there were at the last beat, this one included. */
  nodes = 1
  /** The number of the last news that was heard, and of the last that the server knew of at the last beat. */
  private last: number | undefined
  private due = 0
  /** The others could not be told of something. */
  private isUntold = false

  constructor(private readonly ports: FleetNewsPorts) {}

  /** `isBack`: nothing was heard until now. @throws where the fleet is of no use */
  async beat(isBack: boolean): Promise<void> {
    const { store, node, missed } = this.ports
    if (isBack) {
      this.last = undefined
      await store.listen()
    }
    const [nodes, news] = await store.beat(node, forgottenMs)
    this.nodes = nodes
    if (this.last === undefined) this.last = news
    // News from before the last beat has not come until this one.
    else if (this.last < this.due) {
      this.last = news
      store.listenAnew()
      missed()
    }
    this.due = news
  }

  /** Nothing lies under these names any more when the others hear of it. */
  async change(names: readonly SealedName[], change: ChangeElsewhere): Promise<void> {
    const { store, node } = this.ports
    try {
      await Promise.all(names.map(name => store.drop(name)))
      await store.tell(this.sealed({ from: node, change }))
    } catch {
      this.isUntold = true
    }
  }

  /** The fleet is used again: what was said meanwhile is unknown, here and to the others. */
  back(): void {
    this.ports.missed()
    if (!this.isUntold) return
    this.isUntold = false
    void this.change([], { is: 'all' })
  }

  hear(number: number, message: Buffer): void {
    const { seal, name, node, heard, missed } = this.ports
    const isNext = this.last === undefined || number <= this.last + 1
    if (this.last !== undefined) this.last = Math.max(this.last, number)
    const opened = seal.open(name, message)
    // Of another version of calcfs: what it has changed is not known here.
    if (opened === undefined || !isNext) {
      missed()
      return
    }
    const { from, change } = JSON.parse(opened.plain.toString('utf8')) as {
      from: string
      change: ChangeElsewhere
    }
    if (from !== node) heard(change)
  }

  async end(): Promise<void> {
    await this.ports.store.leave(this.ports.node).catch(() => {})
  }

  private sealed(what: object): Buffer {
    const { seal, clock, name } = this.ports
    return seal.close(name, clock.now(), Buffer.from(JSON.stringify(what)))
  }
}
