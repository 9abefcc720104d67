// Fleet: what many mounts of one user share, so that they ask the service once; what one changes the others hear, and a beat twice a second notices what was not heard.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../remote/clock.js'
import { type Say, seldom } from '../seldom.js'
import type { FleetAddress } from './address.js'
import { SharedAnswers } from './answers.js'
import { notYet } from './breaker.js'
import { SharedContents } from './contents.js'
import { type FleetKey, Seal, type SealedName } from './seal.js'
import type { ChangeElsewhere, FleetCounts } from './shared-value.js'
import { FleetStore } from './store.js'

interface FleetStatus extends Readonly<FleetCounts> {
  readonly address: string
  readonly mounts: number
  /** Undefined while it is used. */
  readonly passedByBecause: string | undefined
}

interface FleetOptions {
  readonly address: FleetAddress
  readonly key: FleetKey
  readonly authority: string | undefined
  /** Values of one user at one service are read by no other. */
  readonly scope: readonly [service: string, user: string]
  readonly clock: Clock
  readonly log: Say
  readonly outdated: (change: ChangeElsewhere) => void
}

/** Milliseconds without a beat after which a daemon is no node any more. */
const forgottenMs = 5_000
/** Milliseconds for which its first connection is waited for. */
const begunMs = { 'a mount': 250, 'a command': 1_500 }

/** Connects in the background; until it is there, and whenever it is slow or gone, the service is asked as without it. */
export class Fleet {
  readonly answers: SharedAnswers
  readonly contents: SharedContents
  private readonly store: FleetStore
  private readonly seal: Seal
  /** Of this daemon, and of the news. */
  private readonly node = randomBytes(9).toString('base64url')
  private readonly name: SealedName
  private readonly counts: FleetCounts = { saved: 0, asked: 0 }
  private readonly say: Say
  private wasAway = false
  private begin: () => void = () => {}
  /** Resolves when it is used, or its first connection has failed. */
  private readonly hasBegun = new Promise<void>(resolve => {
    this.begin = resolve
  })
  /** How many daemons there were at the last beat, this one included. */
  private mounts = 1
  /** The number of the last news that was heard, and of the last that the server knew of at the last beat. */
  private last: number | undefined
  private due = 0
  private isUntold = false

  constructor(private readonly options: FleetOptions) {
    const { address, key, authority, scope, clock } = options
    this.say = seldom(options.log, clock)
    this.seal = new Seal(key, scope, clock.now)
    this.name = this.seal.nameOf('news', '')
    this.store = new FleetStore({
      address,
      authority,
      clock,
      name: this.name,
      hear: (number, message) => this.hear(number, message),
      beat: isBack => this.beat(isBack),
      opened: why => this.passedBy(why),
      closed: () => this.back(),
    })
    const { store, seal, node, counts } = this
    const ports = { store, seal, clock, node, counts, change: this.change.bind(this) }
    this.answers = new SharedAnswers(ports, options.outdated)
    this.contents = new SharedContents(ports)
  }

  status(): FleetStatus {
    const { mounts, store, options, counts } = this
    return { address: options.address.shown, mounts, ...counts, passedByBecause: store.breaker.why }
  }

  /** Until it is used, or will not be soon: a mount waits a moment before its first question, a command longer. */
  async begun(by: 'a mount' | 'a command'): Promise<void> {
    if (this.store.breaker.why !== notYet) return
    const { clock } = this.options
    const late = new Promise<void>(resolve => clock.after(begunMs[by], resolve, 'in-background'))
    await Promise.race([this.hasBegun, late])
  }

  async close(): Promise<void> {
    await this.store.leave(this.node).catch(() => {})
    this.store.close()
  }

  /** `isBack`: nothing was heard until now. @throws where the fleet is of no use */
  private async beat(isBack: boolean): Promise<void> {
    if (isBack) {
      this.last = undefined
      await this.store.listen()
    }
    const [nodes, news] = await this.store.beat(this.node, forgottenMs)
    this.mounts = nodes
    if (this.last === undefined) this.last = news
    // News from before the last beat has not come until this one.
    else if (this.last < this.due) {
      this.last = news
      this.store.listenAnew()
      this.missed()
    }
    this.due = news
  }

  /** Nothing lies under these names any more when the others hear of it. */
  private async change(names: readonly SealedName[], change: ChangeElsewhere): Promise<void> {
    const { store, seal, name, node, options } = this
    try {
      await Promise.all(names.map(one => store.drop(one)))
      const news = Buffer.from(JSON.stringify({ from: node, change }))
      await store.tell(seal.close(name, options.clock.now(), news))
    } catch {
      this.isUntold = true
    }
  }

  private hear(number: number, message: Buffer): void {
    const isNext = this.last === undefined || number <= this.last + 1
    if (this.last !== undefined) this.last = Math.max(this.last, number)
    const opened = this.seal.open(this.name, message)
    // Of another version of calcfs: what it has changed is not known here.
    if (opened === undefined || !isNext) {
      this.missed()
      return
    }
    const { from, change }: { from: string; change: ChangeElsewhere } = JSON.parse(opened.plain.toString())
    if (from === this.node) return
    if (change.is === 'all') this.answers.missed()
    if (change.is === 'answer') this.answers.heard(change)
    if (change.is === 'content') this.contents.heard(change.name)
    this.options.outdated(change)
  }

  private missed(): void {
    this.options.outdated({ is: 'all' })
  }

  private passedBy(why: string): void {
    this.wasAway = true
    this.say('the fleet is passed by', { fleet: this.options.address.shown, why })
    this.begin()
  }

  /** Used again: what was said meanwhile is unknown, here and to the others. */
  private back(): void {
    if (this.wasAway) this.say('the fleet is used again', { fleet: this.options.address.shown })
    this.missed()
    if (this.isUntold) void this.change([], { is: 'all' })
    this.isUntold = false
    this.begin()
  }
}
