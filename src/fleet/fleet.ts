// Fleet: what many mounts of one user share, so that they ask the service once.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../remote/clock.js'
import { type Say, seldom } from '../seldom.js'
import type { FleetAddress } from './address.js'
import { SharedAnswers } from './answers.js'
import { notYet } from './breaker.js'
import { SharedContents } from './contents.js'
import { type ChangeElsewhere, FleetNews } from './news.js'
import { type FleetKey, Seal } from './seal.js'
import type { FleetCounts, SharingPorts } from './shared-value.js'
import { FleetStore } from './store.js'

export interface FleetStatus extends Readonly<FleetCounts> {
  readonly address: string
  /** How many share it now. */
  readonly mounts: number
  /** Undefined while it is used. */
  readonly passedByBecause: string | undefined
}

export interface FleetOptions {
  readonly address: FleetAddress
  readonly key: FleetKey
  readonly caFile: string | undefined
  /** Values of one user at one service are read by no other. */
  readonly scope: readonly [service: string, user: string]
  readonly clock: Clock
  readonly log: Say
  /** Another daemon has changed it. */
  readonly outdated: (change: ChangeElsewhere) => void
}

/** Milliseconds for which a mount waits for its first connection, and a command that is about the fleet. */
const [mountMs, commandMs] = [250, 1_500]

/** Connects in the background; until it is there, and whenever it is slow or gone, the service is asked as without it. */
export class Fleet {
  readonly answers: SharedAnswers
  readonly contents: SharedContents
  private readonly store: FleetStore
  private readonly news: FleetNews
  private readonly counts: FleetCounts = { saved: 0, asked: 0 }
  private readonly say: Say
  private wasAway = false
  private begin: () => void = () => {}
  /** Resolves when it is used, or its first connection has failed. */
  private readonly hasBegun = new Promise<void>(resolve => {
    this.begin = resolve
  })

  constructor(private readonly options: FleetOptions) {
    const { address, key, caFile, scope, clock, outdated } = options
    this.say = seldom(options.log, clock)
    const { counts } = this
    const node = randomBytes(9).toString('base64url')
    const seal = new Seal(key, scope, clock.now)
    const name = seal.nameOf('news', '')
    const store = new FleetStore({
      address,
      caFile,
      clock,
      name,
      hear: (number, message) => this.news.hear(number, message),
      beat: isBack => this.news.beat(isBack),
      opened: why => this.passedBy(why),
      closed: () => this.back(),
    })
    this.store = store
    this.news = new FleetNews({
      store,
      seal,
      clock,
      node,
      name,
      heard: change => this.heard(change),
      missed: () => outdated({ is: 'all' }),
    })
    const change: SharingPorts['change'] = (names, news) => this.news.change(names, news)
    const ports = { store, seal, clock, node, counts, change }
    this.answers = new SharedAnswers(ports, outdated)
    this.contents = new SharedContents(ports)
  }

  status(): FleetStatus {
    const { news, store, options, counts } = this
    const { shown: address } = options.address
    return { address, mounts: news.nodes, ...counts, passedByBecause: store.breaker.why }
  }

  /** A mount waits for it a moment before its first question: until it is used, or will not be soon. */
  async begun(milliseconds = mountMs): Promise<void> {
    if (this.store.breaker.why !== notYet) return
    const { clock } = this.options
    const late = new Promise<void>(resolve => clock.after(milliseconds, resolve, 'in-background'))
    await Promise.race([this.hasBegun, late])
  }

  /** The same for a command. */
  ready(): Promise<void> {
    return this.begun(commandMs)
  }

  async close(): Promise<void> {
    await this.news.end()
    this.store.close()
  }

  private heard(change: ChangeElsewhere): void {
    if (change.is === 'all') this.answers.missed()
    if (change.is === 'answer') this.answers.heard(change)
    if (change.is === 'content') this.contents.heard(change.name)
    this.options.outdated(change)
  }

  private passedBy(why: string): void {
    this.wasAway = true
    this.say('the fleet is passed by', { fleet: this.options.address.shown, why })
    this.begin()
  }

  private back(): void {
    if (this.wasAway) this.say('the fleet is used again', { fleet: this.options.address.shown })
    this.news.back()
    this.begin()
  }
}
