// Fleet: what many mounts of one user share, so that they ask the service once.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { AnswerSource } from '../cache/metadata/query.js'
import { type Clock, sleep } from '../remote/clock.js'
import type { Remote } from '../remote/remote.js'
import { type Say, seldom } from '../seldom.js'
import type { FleetAddress } from './address.js'
import { SharedAnswers } from './answers.js'
import type { ServerFacts } from './connection.js'
import { SharedContents } from './contents.js'
import type { FleetKey } from './key.js'
import type { FleetCounts } from './lease.js'
import { type ChangeElsewhere, FleetNews } from './news.js'
import { Seal, type SealedName } from './seal.js'
import { FleetStore } from './store.js'

export interface FleetNode extends Readonly<FleetCounts> {
  readonly host: string
  readonly pid: number
}

export interface FleetStatus extends Readonly<FleetCounts> {
  /** How many mounts share it now. */
  readonly nodes: number
  readonly address: string
  /** Why it is passed by; undefined while it is used. */
  readonly away: string | undefined
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

/** Milliseconds that a mount waits for its first connection. */
const firstMs = 250

/** Connects in the background; until it is there, and whenever it is slow or gone, the service is asked as without it. */
export class Fleet {
  private readonly options: FleetOptions
  private readonly store: FleetStore
  private readonly news: FleetNews
  private readonly shared: SharedAnswers
  private readonly contents: SharedContents
  private readonly counts: FleetCounts = { hits: 0, asked: 0, received: 0, sent: 0, wrong: 0 }
  private readonly say: Say
  /** The others could not be told of something. */
  private isUntold = false
  private wasAway = false
  private used: () => void = () => {}
  private readonly isUsed = new Promise<void>(resolve => {
    this.used = resolve
  })

  constructor(options: FleetOptions) {
    this.options = options
    const { address, key, caFile, scope, clock, outdated } = options
    this.say = seldom(options.log, clock)
    const node = randomBytes(9).toString('base64url')
    const seal = new Seal(key, scope, clock.now)
    const name = seal.nameOf('news', '')
    this.news = new FleetNews({
      store: () => this.store,
      seal,
      clock,
      node,
      name,
      word: (): FleetNode => ({ host: hostname(), pid: process.pid, ...this.counts }),
      heard: change => this.heard(change),
      missed: () => outdated({ is: 'all' }),
    })
    this.store = new FleetStore({
      address,
      caFile,
      clock,
      name,
      hear: (number, message) => this.news.hear(number, message),
      beat: isBack => this.news.beat(isBack),
      opened: sentence => this.passedBy(sentence),
      closed: () => this.back(),
    })
    const { store, counts } = this
    const change = (names: readonly SealedName[], news: ChangeElsewhere): Promise<void> =>
      this.change(names, news)
    const ports = { store, seal, clock, node, counts, change }
    this.shared = new SharedAnswers({ ...ports, outdated })
    this.contents = new SharedContents(ports)
  }

  get answers(): AnswerSource {
    return this.shared
  }

  /** The platform, asked for contents only where the fleet does not have them. */
  around(remote: Remote): Remote {
    return this.contents.around(remote)
  }

  /** A content was found to be another version. */
  replaced(name: string): void {
    this.contents.replaced(name)
  }

  status(): FleetStatus {
    const { address } = this.options
    return { ...this.counts, nodes: this.news.nodes, address: address.shown, away: this.store.breaker.why }
  }

  /** Every mount that shares it. @throws FleetAway */
  async nodes(): Promise<readonly FleetNode[]> {
    return (await this.news.words()).map(word => JSON.parse(word) as FleetNode)
  }

  /** The server's own facts. @throws its error */
  server(): Promise<ServerFacts> {
    return this.store.info()
  }

  /** Drops what lies there, of every user; how many values. @throws FleetAway */
  clear(): Promise<number> {
    return this.store.clear()
  }

  /** Resolves when it is used for the first time. */
  ready(): Promise<void> {
    return this.isUsed
  }

  /** Resolves when that is so, or will not be soon: a mount waits for it a moment before its first question. */
  begun(): Promise<void> {
    return Promise.race([this.isUsed, this.store.refused, sleep(this.options.clock, firstMs)])
  }

  async close(): Promise<void> {
    await this.news.end()
    this.store.close()
  }

  /** Nothing lies there any more when the others hear of it. */
  private async change(names: readonly SealedName[], news: ChangeElsewhere): Promise<void> {
    try {
      await Promise.all(names.map(name => this.store.drop(name)))
      await this.news.tell(news)
    } catch {
      this.isUntold = true
    }
  }

  private heard(change: ChangeElsewhere): void {
    if (change.is === 'all') this.shared.missed()
    if (change.is === 'answer') this.shared.heard(change)
    if (change.is === 'content') this.contents.heard(change.name)
    this.options.outdated(change)
  }

  private passedBy(why: string): void {
    this.wasAway = true
    this.say('the fleet is passed by', { fleet: this.options.address.shown, why })
  }

  private back(): void {
    if (this.wasAway) this.say('the fleet is used again', { fleet: this.options.address.shown })
    // What the others said meanwhile is unknown.
    this.options.outdated({ is: 'all' })
    if (this.isUntold) {
      this.isUntold = false
      void this.change([], { is: 'all' })
    }
    this.used()
  }
}
