// Fleet store: the Valkey or Redis of a fleet, its two lanes, what is watched there, and whether it is passed by.
import { Cluster, Redis } from 'ioredis'
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { FleetAddress } from './fleet-address.js'
import { type FleetBreaker, openFleetBreaker } from './fleet-breaker.js'
import {
  connectFleet,
  notConnected,
  reasonOf,
  receivedBytes,
  type ServerFacts,
  serverFacts,
} from './fleet-connection.js'
import { type FleetLane, isFull, isOfOtherKind, openFleetLane, type RunCommand } from './fleet-lane.js'
import { NoAnswer, openFleetPatience, type ServerSigns } from './fleet-patience.js'
import {
  anyValue,
  channelOf,
  countKey,
  echoChannel,
  type FleetScripts,
  leaseKey,
  newsChannel,
  nodesKey,
  saidKey,
} from './fleet-scripts.js'
import type { SealedName } from './seal.js'

/** The fleet is passed by: what was wanted of it is asked of the service. */
export class FleetAway extends Error {
  override readonly name = 'FleetAway'
}

/** Something was put under a name, or its lease was given back. */
export interface Watch {
  /** Resolves at the next one, or after so many milliseconds. */
  next(milliseconds: number): Promise<void>
  end(): void
}

export interface FleetStore {
  readonly breaker: Pick<FleetBreaker, 'isOpen' | 'why' | 'median'>
  /** Why nothing more can be put there; undefined where that is not so. */
  readonly full: string | undefined
  /** For short values: answers, sizes. */
  readonly answers: FleetLane
  /** For long ones. */
  readonly contents: FleetLane
  watch(name: SealedName): Promise<Watch>
  /** The node is there; how many are. */
  beat(name: SealedName, node: string, value: Buffer, forgottenMs: number): Promise<number>
  leave(name: SealedName, node: string): Promise<void>
  /** What each node said last. */
  nodes(name: SealedName): Promise<readonly Buffer[]>
  /** Drops all values that calcfs keeps there, of every user; how many. @throws FleetAway where it is passed by, or stops in the middle */
  clear(): Promise<number>
  readonly news: NewsCarrier
  /** Resolves when a connection has failed for the first time. */
  readonly refused: Promise<void>
  /** What its servers say of themselves. */
  info(): Promise<ServerFacts>
  close(): void
}

/** Messages to every daemon that listens, each with its number, as the server counts them. */
export interface NewsCarrier {
  tell(name: SealedName, message: Buffer): Promise<void>
  /** To the node itself, with the number of the last news. */
  echo(name: SealedName, node: string, message: Buffer): Promise<void>
  /** Undefined for a number that the server could not count. May be called again, where the server may have forgotten it. */
  listen(name: SealedName, node: string, hear: HearNews): void
  /** Its connection takes what is said and brings nothing: another one takes its place. */
  reconnect(): void
}

export type HearNews = (what: 'news' | 'echo', number: number | undefined, message: Buffer) => void

/** A channel with those who listen; `ready` when the server knows. */
interface Watched {
  readonly name: SealedName
  readonly hearing: Set<() => void>
  readonly ready: Promise<unknown>
}

export interface FleetStoreOptions {
  readonly address: FleetAddress
  /** PEM file of the authority that signed the fleet's certificate. */
  readonly caFile: string | undefined
  readonly clock: Clock
  readonly away: (sentence: string) => void
  /** It has no room for something. */
  readonly filled: (sentence: string) => void
  readonly back: () => void
}

/** Milliseconds of waiting for a short answer and for a long one, where other answers come meanwhile. */
const [shortMs, longMs] = [500, 5_000]
/** The same for a short one of a cluster: its other nodes answer, too. */
const shortOfClusterMs = 250
/** A cluster is probed in so many slots: one node that is gone keeps what lies there, and each command for it waited for. */
const slotsProbed = 64
/** Milliseconds between two probes of a cluster that goes on failing: each asks its other nodes where the slots are now. */
const clusterFailingPauseMs = 4_000
/** Milliseconds for which it is said that there was no room. */
const fullMs = 10_000
/** Milliseconds for which what a probe writes lies there. */
const probeLivesMs = 1_000
/** Milliseconds between two looks at the leases that end a wait. */
const lookMs = 100
const fullSentence = 'it is full and evicts nothing: set maxmemory-policy to allkeys-lru'

/** Connects in the background: until then the fleet is passed by. */
export function openFleetStore(options: FleetStoreOptions): FleetStore {
  const { clock } = options
  const { client, bulk, subscriber } = connectFleet(options.address, options.caFile)
  const all = [...new Set([client, bulk, subscriber])]
  const scripts = client as unknown as FleetScripts
  const watches = new Map<string, Watched>()
  const attempts = new Set<(reason: FleetAway) => void>()
  const listeners = new Map<string, (message: Buffer) => void>()
  const isCluster = client instanceof Cluster
  const probeKeys = Array.from({ length: isCluster ? slotsProbed : 1 }, (_, at) => `calcfs:probe:${at}`)
  let fullUntil = Number.NEGATIVE_INFINITY
  let stopLooking: (() => void) | undefined

  /** Of the connection that could not be made or held. */
  let lastError: string | undefined

  /** Between two attempts the client says only that there is no connection. */
  function why(thrown: unknown): string {
    const sentence = reasonOf(thrown)
    return sentence === notConnected ? (lastError ?? sentence) : sentence
  }

  const patience = openFleetPatience(clock)
  const breaker = openFleetBreaker({
    clock,
    async probe() {
      const written = probeKeys.map(key => client.set(key, '', 'PX', probeLivesMs))
      const done = Promise.all(written).catch(thrown => {
        if (!isFull(thrown)) throw thrown
      })
      return (await patience.answered(done)).took
    },
    ...(isCluster ? { longestFailingPauseMs: clusterFailingPauseMs } : {}),
    reasonOf: why,
    opened(sentence) {
      // Who waits for a command, or for another daemon's answer, asks the service now.
      for (const giveUp of [...attempts]) giveUp(new FleetAway(sentence))
      for (const { hearing } of watches.values()) for (const hear of hearing) hear()
      options.away(sentence)
    },
    closed() {
      answers.back()
      contents.back()
      options.back()
    },
  })
  client.on('ready', () => {
    lastError = undefined
    breaker.connected()
  })
  const refused = new Promise<void>(resolve => client.once('error', () => resolve()))
  client.on('error', error => {
    lastError = reasonOf(error)
    breaker.failed(lastError)
  })
  for (const other of [bulk, subscriber]) if (other !== client) other.on('error', noop)
  if (!isCluster)
    subscriber.on('ready', () => {
      for (const channel of new Set([...listeners.keys(), ...watches.keys()]))
        subscriber.ssubscribe(channel).catch(noop)
    })
  subscriber.on('smessageBuffer', (channel: unknown, message: unknown) => {
    // A message that was damaged on its way: its number is missing then.
    if (!Buffer.isBuffer(channel) || !Buffer.isBuffer(message)) return
    const name = channel.toString()
    listeners.get(name)?.(message)
    for (const hear of watches.get(name)?.hearing ?? []) hear()
  })

  /** While something is waited for: a message may be lost, an owner may die, and a server that stops says nothing. */
  function lookLater(): void {
    if (watches.size > 0) stopLooking ??= clock.after(lookMs, () => void look(), 'in-background')
  }

  async function look(): Promise<void> {
    stopLooking = undefined
    const waited = [...watches.values()]
    try {
      const leases = await run(() => Promise.all(waited.map(({ name }) => client.exists(leaseKey(name)))))
      for (const [at, { hearing }] of waited.entries())
        if (leases[at] === 0) for (const hear of hearing) hear()
    } catch {
      // Who waits has heard that it is passed by.
    }
    lookLater()
  }

  function filled(): void {
    fullUntil = clock.now() + fullMs
    options.filled(fullSentence)
  }

  const heard = (): number => all.reduce((sum, one) => sum + receivedBytes(one), 0)

  async function attempt<Answer>(
    command: () => Promise<Answer>,
    answered: (took: number) => void,
    signs: Omit<ServerSigns, 'heard'>,
  ): Promise<Answer> {
    if (breaker.isOpen) throw new FleetAway(breaker.why)
    let giveUp: (reason: FleetAway) => void = noop
    const passedBy = new Promise<never>((_, reject) => {
      giveUp = reject
    })
    attempts.add(giveUp)
    try {
      const answering = patience.answered(command(), { heard, ...signs })
      const { answer, took } = await Promise.race([answering, passedBy])
      answered(took)
      return answer
    } catch (thrown) {
      if (thrown instanceof FleetAway) throw thrown
      const sentence = why(thrown)
      if (isFull(thrown)) filled()
      // Another program has put something of another kind under one name: the rest is as it was.
      else if (isOfOtherKind(thrown)) throw new FleetAway(sentence, { cause: thrown })
      else if (thrown instanceof NoAnswer) breaker.silent(sentence)
      else breaker.failed(sentence)
      throw new FleetAway(sentence, { cause: thrown })
    } finally {
      attempts.delete(giveUp)
    }
  }

  function answered(took: number): void {
    patience.took(took)
    breaker.answered(took)
  }

  const run: RunCommand = command =>
    attempt(command, answered, { atMostMs: isCluster ? shortOfClusterMs : shortMs })
  // How long a long value takes is a matter of the network: it counts that bytes come on its connection: a damaged length swallows all that follows.
  const runLong: RunCommand = command =>
    attempt(command, noop, { own: () => receivedBytes(bulk), silentMs: shortMs, atMostMs: longMs })

  const answers = openFleetLane(client, run, filled, 'short')
  const contents = openFleetLane(bulk, runLong, filled, 'long')

  function listenTo(channel: string, hear: (number: number | undefined, message: Buffer) => void): void {
    listeners.set(channel, said => {
      const space = said.indexOf(0x20)
      const number = Number(said.subarray(0, space).toString('latin1'))
      hear(Number.isSafeInteger(number) ? number : undefined, said.subarray(space + 1))
    })
    subscriber.ssubscribe(channel).catch(noop)
  }

  return {
    breaker,
    get full() {
      return clock.now() < fullUntil ? fullSentence : undefined
    },
    answers,
    contents,
    async watch(name) {
      const channel = channelOf(name)
      const watched = watches.get(channel) ?? {
        name,
        hearing: new Set(),
        ready: run(() => subscriber.ssubscribe(channel)),
      }
      const { hearing } = watched
      let heard = false
      let wake = noop
      const hear = (): void => {
        heard = true
        wake()
      }
      hearing.add(hear)
      watches.set(channel, watched)
      lookLater()
      const end = (): void => {
        if (!hearing.delete(hear) || hearing.size > 0) return
        watches.delete(channel)
        subscriber.sunsubscribe(channel).catch(noop)
      }
      try {
        await watched.ready
      } catch (thrown) {
        end()
        throw thrown
      }
      return {
        next: milliseconds =>
          new Promise(resolve => {
            const ended = (): void => {
              callOff()
              heard = false
              wake = noop
              resolve()
            }
            const callOff = clock.after(milliseconds, ended)
            wake = ended
            if (heard || breaker.isOpen) ended()
          }),
        end,
      }
    },
    beat: (name, node, value, forgottenMs) =>
      run(() => scripts.fleetBeat(nodesKey(name), saidKey(name), node, value, forgottenMs)),
    async leave(name, node) {
      await run(() => Promise.all([client.zrem(nodesKey(name), node), client.hdel(saidKey(name), node)]))
    },
    nodes: name => run(() => client.hvalsBuffer(saidKey(name))),
    async clear() {
      const servers = client instanceof Cluster ? client.nodes('master') : [client]
      if (servers.length === 0) throw new FleetAway('no node of the cluster is known')
      let count = 0
      for (const server of servers) {
        let cursor = '0'
        do {
          const [next, found] = await runLong(() => server.scan(cursor, 'MATCH', anyValue, 'COUNT', 1_000))
          // Of several slots, where it is a cluster.
          await runLong(() => Promise.all(found.map(key => server.unlink(key))))
          count += found.length
          cursor = next
        } while (cursor !== '0')
      }
      return count
    },
    refused,
    news: {
      async tell(name, message) {
        await run(() => scripts.fleetTell(countKey(name), newsChannel(name), message))
      },
      async echo(name, node, message) {
        await run(() => scripts.fleetEcho(countKey(name), echoChannel(name, node), message))
      },
      listen(name, node, hear) {
        listenTo(newsChannel(name), (number, message) => hear('news', number, message))
        listenTo(echoChannel(name, node), (number, message) => hear('echo', number, message))
      },
      reconnect() {
        // It subscribes again by itself. A cluster's client looks after those connections of its own.
        if (subscriber instanceof Redis) subscriber.disconnect(true)
      },
    },
    async info() {
      const { answer: facts } = await patience.answered(serverFacts(client))
      if (facts === undefined) throw new FleetAway('no node of the cluster is known')
      return facts
    },
    close() {
      breaker.end()
      stopLooking?.()
      for (const one of all) one.disconnect()
    },
  }
}
