// Store of a fleet: values, leases and news on a Valkey or Redis; it is passed by where that is slow or gone.
import { type Cluster, Redis } from 'ioredis'
import type { Clock } from '../remote/clock.js'
import type { FleetAddress } from './address.js'
import { FleetBreaker, inTime } from './breaker.js'
import {
  connectFleet,
  type FleetClient,
  type FleetConnection,
  movedBytes,
  notConnected,
  reasonOf,
} from './connection.js'
import type { SealedName } from './seal.js'

/** The value under a name; `leased`: the caller asks the service, and puts the answer or releases the lease; `asked`: another does. */
export type Taken = { readonly value: Buffer; readonly leftMs: number } | 'leased' | 'asked'

/** Short values and long ones have connections of their own, so that long ones delay no short ones. */
export type ValueLength = 'short' | 'long'

interface StoreOptions {
  readonly address: FleetAddress
  /** The one that signed the fleet's certificate, in PEM. */
  readonly authority: string | undefined
  readonly clock: Clock
  /** Of the news, and of the list of nodes. */
  readonly name: SealedName
  readonly hear: (number: number, message: Buffer) => void
  readonly beat: (isBack: boolean) => Promise<void>
  readonly opened: (sentence: string) => void
  readonly closed: () => void
}

/** Milliseconds after which the lease of a daemon that died is over. */
export const leaseMs = 2_000
/** So many bytes may be on their way into the fleet; beyond, a value is each daemon's own. */
const puttingAtMost = 32 << 20
/** Why a server that answers, but not as a script of calcfs, is passed by. */
const nonsense = 'it answers nonsense: is it a Valkey or Redis?'

// The braces keep all keys of one name in one slot of a cluster.
const keyOf = (end: string) => (name: string) => `calcfs:{${name}}:${end}`
const [valueKey, leaseKey] = [keyOf('v'), keyOf('l')]
const [nodesKey, countKey, newsChannel] = [keyOf('nodes'), keyOf('count'), keyOf('news')]

/** Connects in the background. All methods reject while the fleet is passed by: what was wanted of it is asked of the service. */
export class FleetStore {
  readonly breaker: FleetBreaker
  private readonly connection: FleetConnection
  private lastError: string | undefined
  private putting = 0

  constructor(private readonly options: StoreOptions) {
    const { address, authority, clock, name, hear, beat, opened, closed } = options
    this.connection = connectFleet(address, authority)
    const { client, bulk, subscriber } = this.connection
    const why = (thrown: unknown): string => this.why(thrown)
    this.breaker = new FleetBreaker({ clock, beat, reasonOf: why, opened, closed })
    client.on('error', error => {
      this.lastError = reasonOf(error)
      this.breaker.open(this.lastError)
    })
    client.once('ready', () => void this.breaker.beat())
    for (const other of [bulk, subscriber]) other.on('error', () => {})
    subscriber.on('smessageBuffer', (_: unknown, message: unknown) => {
      if (!Buffer.isBuffer(message)) return
      const space = message.indexOf(0x20)
      hear(Number(message.subarray(0, space).toString('latin1')), message.subarray(space + 1))
    })
    // A cluster's client looks after its own.
    if (subscriber instanceof Redis)
      subscriber.on('ready', () => void subscriber.ssubscribe(newsChannel(name)).catch(() => {}))
  }

  /** The value, where it counts for longer than `leftMs`; else a lease for `owner`. */
  take(name: SealedName, owner: string, leftMs: number, length: ValueLength): Promise<Taken> {
    return this.run(length, async client => {
      const least = Math.ceil(leftMs)
      const answer = await client.fleetTakeBuffer(valueKey(name), leaseKey(name), owner, leaseMs, least)
      if (answer === 1) return 'leased'
      if (answer === 0) return 'asked'
      const [value, left] = Array.isArray(answer) ? answer : []
      if (!Buffer.isBuffer(value) || typeof left !== 'number') throw new Error(nonsense)
      return { value, leftMs: left }
    })
  }

  /** The lease ends so many milliseconds from now, unless it is another's; with 0 the next one asks at once. */
  hold(name: SealedName, owner: string, milliseconds: number): Promise<unknown> {
    return this.run('short', client => client.fleetHold(leaseKey(name), owner, milliseconds))
  }

  /** Puts it under the lease, unless that is another's by now, or something has changed meanwhile. */
  put(
    name: SealedName,
    owner: string,
    value: Buffer,
    livesMs: number,
    length: ValueLength,
  ): Promise<unknown> {
    if (this.putting + value.length > puttingAtMost) return this.hold(name, owner, 0)
    return this.run(length, async client => {
      this.putting += value.length
      try {
        await client.fleetPut(valueKey(name), leaseKey(name), owner, value, Math.ceil(livesMs))
      } finally {
        this.putting -= value.length
      }
    })
  }

  /** The value there is over, and so is the one being asked for now. */
  drop(name: SealedName): Promise<unknown> {
    return this.run('short', client => client.del(valueKey(name), leaseKey(name)))
  }

  tell(message: Buffer): Promise<unknown> {
    const { name } = this.options
    return this.run('short', client => client.fleetTell(countKey(name), newsChannel(name), message))
  }

  /** This daemon is there: how many there are, and the number of the last news. Also while the fleet is passed by. */
  async beat(node: string, forgottenMs: number): Promise<readonly [nodes: number, news: number]> {
    const { client } = this.connection
    const { name } = this.options
    const beat = client.fleetBeat(countKey(name), nodesKey(name), node, forgottenMs)
    const answer = await this.timed(client, beat)
    const [nodes, news] = Array.isArray(answer) ? answer.map(Number) : []
    if (!Number.isSafeInteger(nodes) || !Number.isSafeInteger(news)) throw new Error(nonsense)
    return [nodes ?? 0, news ?? 0]
  }

  /** Resolves when the server knows that this daemon listens. Also while the fleet is passed by. */
  async listen(): Promise<void> {
    const { subscriber } = this.connection
    try {
      await this.timed(subscriber, subscriber.ssubscribe(newsChannel(this.options.name)))
    } catch (thrown) {
      this.listenAnew()
      throw thrown
    }
  }

  /** Another connection may hear better. A cluster's client looks after those of its own. */
  listenAnew(): void {
    const { subscriber } = this.connection
    if (subscriber instanceof Redis) subscriber.disconnect(true)
    else subscriber.ssubscribe(newsChannel(this.options.name)).catch(() => {})
  }

  async leave(node: string): Promise<void> {
    await this.run('short', client => client.zrem(nodesKey(this.options.name), node))
  }

  close(): void {
    this.breaker.end()
    const { client, bulk, subscriber } = this.connection
    for (const one of new Set([client, bulk, subscriber])) one.disconnect()
  }

  /** Between two attempts the client says only that there is no connection. */
  private why(thrown: unknown): string {
    const sentence = reasonOf(thrown)
    return sentence === notConnected ? (this.lastError ?? sentence) : sentence
  }

  private timed<Answer>(client: Redis | Cluster, command: Promise<Answer>): Promise<Answer> {
    return inTime(command, this.options.clock, () => movedBytes(client))
  }

  private async run<Answer>(
    length: ValueLength,
    command: (client: FleetClient) => Promise<Answer>,
  ): Promise<Answer> {
    if (this.breaker.why !== undefined) throw new Error(this.breaker.why)
    const client = length === 'long' ? this.connection.bulk : this.connection.client
    try {
      return await this.timed(client, command(client))
    } catch (cause) {
      const sentence = this.why(cause)
      this.breaker.open(sentence)
      throw new Error(sentence, { cause })
    }
  }
}
