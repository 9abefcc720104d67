// Store of a fleet: values, leases and news on a Valkey or Redis; it is passed by where that is slow or gone.
import { Cluster, Redis } from 'ioredis'
import type { Clock } from '../remote/clock.js'
import type { FleetAddress } from './address.js'
import { FleetBreaker, inTime } from './breaker.js'
import {
  connectFleet,
  type FleetConnection,
  movedBytes,
  notConnected,
  reasonOf,
  type ServerFacts,
  serverFacts,
} from './connection.js'
import {
  anyValue,
  countKey,
  type FleetScripts,
  leaseKey,
  newsChannel,
  nodesKey,
  valueKey,
  wordsKey,
} from './scripts.js'
import type { SealedName } from './seal.js'

/** The fleet is passed by: what was wanted of it is asked of the service. */
export class FleetAway extends Error {
  override readonly name = 'FleetAway'
}

/** What lies under a name, or who asks for it. */
export type Taken =
  | { readonly is: 'there'; readonly value: Buffer; readonly leftMs: number }
  /** The caller asks the service, and puts the answer or releases the lease. */
  | { readonly is: 'leased' }
  /** Another daemon asks. */
  | { readonly is: 'asked' }

/** Short values and long ones have connections of their own, so that long ones delay no short ones. */
export type ValueLength = 'short' | 'long'

export interface StoreOptions {
  readonly address: FleetAddress
  /** PEM file of the authority that signed the fleet's certificate. */
  readonly caFile: string | undefined
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

/** Connects in the background. All methods reject with FleetAway while the fleet is passed by. */
export class FleetStore {
  readonly breaker: FleetBreaker
  /** Resolves when a connection has failed for the first time. */
  readonly refused: Promise<void>
  private readonly clock: Clock
  private readonly name: SealedName
  private readonly connection: FleetConnection
  private lastError: string | undefined
  private putting = 0

  constructor({ address, caFile, clock, name, hear, beat, opened, closed }: StoreOptions) {
    this.clock = clock
    this.name = name
    this.connection = connectFleet(address, caFile)
    const { client, subscriber } = this.connection
    const why = (thrown: unknown): string => this.why(thrown)
    this.breaker = new FleetBreaker({ clock, beat, reasonOf: why, opened, closed })
    this.refused = new Promise(resolve => client.once('error', () => resolve()))
    client.on('error', error => {
      this.lastError = reasonOf(error)
      this.breaker.open(this.lastError)
    })
    client.once('ready', () => void this.breaker.beat())
    for (const other of this.all()) if (other !== client) other.on('error', () => {})
    subscriber.on('smessageBuffer', (_: unknown, message: unknown) => {
      if (!Buffer.isBuffer(message)) return
      const space = message.indexOf(0x20)
      hear(Number(message.subarray(0, space).toString('latin1')), message.subarray(space + 1))
    })
    if (subscriber instanceof Redis)
      subscriber.on('ready', () => void subscriber.ssubscribe(newsChannel(name)).catch(() => {}))
  }

  /** The value, where it counts for longer than `leftMs`; else a lease for `owner`. */
  async take(name: SealedName, owner: string, leftMs: number, length: ValueLength): Promise<Taken> {
    const client = this.clientFor(length)
    const scripts = client as unknown as FleetScripts
    const keys = [valueKey(name), leaseKey(name)] as const
    return this.run(client, async () => {
      const answer = await scripts.fleetTakeBuffer(...keys, owner, leaseMs, Math.ceil(leftMs))
      if (answer === 1 || answer === 0) return { is: answer === 1 ? 'leased' : 'asked' }
      const [value, left] = Array.isArray(answer) ? answer : []
      if (!Buffer.isBuffer(value) || typeof left !== 'number') throw new Error(nonsense)
      return { is: 'there', value, leftMs: left }
    })
  }

  async renew(name: SealedName, owner: string): Promise<void> {
    const { client } = this.connection
    const scripts = client as unknown as FleetScripts
    await this.run(client, () => scripts.fleetRenew(leaseKey(name), owner, leaseMs))
  }

  /** Puts it under the lease; false where that is another's by now, or something has changed meanwhile. */
  async put(
    name: SealedName,
    owner: string,
    value: Buffer,
    livesMs: number,
    length: ValueLength,
  ): Promise<boolean> {
    if (this.putting + value.length > puttingAtMost) {
      await this.release(name, owner)
      return false
    }
    const client = this.clientFor(length)
    const scripts = client as unknown as FleetScripts
    const answer = await this.run(client, async () => {
      this.putting += value.length
      try {
        return await scripts.fleetPut(valueKey(name), leaseKey(name), owner, value, Math.ceil(livesMs))
      } finally {
        this.putting -= value.length
      }
    })
    return answer === 1
  }

  /** Ends the lease without a value: the next one asks. */
  async release(name: SealedName, owner: string): Promise<void> {
    const { client } = this.connection
    const scripts = client as unknown as FleetScripts
    await this.run(client, () => scripts.fleetRelease(leaseKey(name), owner))
  }

  /** What lay there is over, and so is what is being asked now. */
  async drop(name: SealedName): Promise<void> {
    const { client } = this.connection
    await this.run(client, () => client.del(valueKey(name), leaseKey(name)))
  }

  async tell(message: Buffer): Promise<void> {
    const { client } = this.connection
    const scripts = client as unknown as FleetScripts
    await this.run(client, () => scripts.fleetTell(countKey(this.name), newsChannel(this.name), message))
  }

  /** This daemon is there: how many there are, and the number of the last news. Also while the fleet is passed by. */
  async beat(
    node: string,
    word: Buffer,
    forgottenMs: number,
  ): Promise<readonly [nodes: number, news: number]> {
    const { client } = this.connection
    const scripts = client as unknown as FleetScripts
    const keys = [countKey(this.name), nodesKey(this.name), wordsKey(this.name)] as const
    const answer = await this.timed(client, () => scripts.fleetBeat(...keys, node, word, forgottenMs))
    const [nodes, news] = Array.isArray(answer) ? answer.map(Number) : []
    if (!Number.isSafeInteger(nodes) || !Number.isSafeInteger(news)) throw new Error(nonsense)
    return [nodes ?? 0, news ?? 0]
  }

  /** Resolves when the server knows that this daemon listens. Also while the fleet is passed by. */
  async listen(): Promise<void> {
    const { subscriber } = this.connection
    await this.timed(subscriber, () => subscriber.ssubscribe(newsChannel(this.name)))
  }

  /** News were missed: another connection may hear better. A cluster's client looks after those of its own. */
  listenAnew(): void {
    const { subscriber } = this.connection
    if (subscriber instanceof Redis) subscriber.disconnect(true)
    else subscriber.ssubscribe(newsChannel(this.name)).catch(() => {})
  }

  async leave(node: string): Promise<void> {
    const { client } = this.connection
    await this.run(client, () =>
      Promise.all([client.zrem(nodesKey(this.name), node), client.hdel(wordsKey(this.name), node)]),
    )
  }

  /** The last word of each node. */
  async words(): Promise<readonly Buffer[]> {
    const { client } = this.connection
    return this.run(client, () => client.hvalsBuffer(wordsKey(this.name)))
  }

  /** Drops all values that calcfs keeps there, of every user; how many. @throws FleetAway also where it stops in the middle */
  async clear(): Promise<number> {
    const { bulk } = this.connection
    let count = 0
    for (const server of bulk instanceof Cluster ? bulk.nodes('master') : [bulk]) {
      let cursor = '0'
      do {
        const [next, found] = await this.run(bulk, () =>
          server.scan(cursor, 'MATCH', anyValue, 'COUNT', 1_000),
        )
        // Of several slots, where it is a cluster.
        await this.run(bulk, () => Promise.all(found.map(key => server.unlink(key))))
        count += found.length
        cursor = next
      } while (cursor !== '0')
    }
    return count
  }

  /** What its servers say of themselves. @throws the server's own error */
  async info(): Promise<ServerFacts> {
    const { client } = this.connection
    const facts = await this.timed(client, () => serverFacts(client))
    if (facts === undefined) throw new FleetAway('no node of the cluster is known')
    return facts
  }

  close(): void {
    this.breaker.end()
    for (const one of this.all()) one.disconnect()
  }

  private all(): ReadonlySet<Redis | Cluster> {
    const { client, bulk, subscriber } = this.connection
    return new Set([client, bulk, subscriber])
  }

  private clientFor(length: ValueLength): Redis | Cluster {
    return length === 'long' ? this.connection.bulk : this.connection.client
  }

  /** Between two attempts the client says only that there is no connection. */
  private why(thrown: unknown): string {
    const sentence = reasonOf(thrown)
    return sentence === notConnected ? (this.lastError ?? sentence) : sentence
  }

  private timed<Answer>(client: Redis | Cluster, command: () => Promise<Answer>): Promise<Answer> {
    return inTime(command(), this.clock, () => movedBytes(client))
  }

  private async run<Answer>(client: Redis | Cluster, command: () => Promise<Answer>): Promise<Answer> {
    if (this.breaker.why !== undefined) throw new FleetAway(this.breaker.why)
    try {
      return await this.timed(client, command)
    } catch (cause) {
      const sentence = this.why(cause)
      this.breaker.open(sentence)
      throw new FleetAway(sentence, { cause })
    }
  }
}
