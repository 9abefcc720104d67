// Fleet connection: the client of the engine, one server or a cluster, how it connects again, and what the server does in one step.
import type { Socket } from 'node:net'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { FleetAddress } from './address.js'

/** KEYS: value, lease. ARGV: owner, milliseconds, for how many more a value must count. */
const takeScript = `local value = redis.call('GET', KEYS[1])
if value then
  local left = redis.call('PTTL', KEYS[1])
  if left > tonumber(ARGV[3]) then return {value, left} end
end
return redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`
/**
 * KEYS: lease. ARGV: owner, milliseconds from now on; 0 ends it. A lease that a change has ended is not taken again: its
 * owner's answer is old.
 */
const holdScript = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`
/** KEYS: value, lease. ARGV: owner, value, milliseconds. */
const putScript = `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`
/** A count that was lost goes on with the milliseconds since 1970: no number comes a second time. */
const countOn = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', now), 'NX', 'PX', 86400000)`
/** KEYS: how many news there were. ARGV: channel, message. A lost message shows as a gap in the numbers. */
const tellScript = `${countOn}
local count = string.format('%.0f', redis.call('INCR', KEYS[1]))
redis.call('PEXPIRE', KEYS[1], 86400000)
redis.call('SPUBLISH', ARGV[1], count .. ' ' .. ARGV[2])
return 1`
/**
 * KEYS: how many news there were, nodes by the time of their last beat. ARGV: node, milliseconds. Answers how many nodes there are,
 * and the number of the last news.
 */
const beatScript = `${countOn}
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {redis.call('ZCARD', KEYS[2]), redis.call('GET', KEYS[1])}`

/** As the client sends them once it knows their names. */
interface FleetScripts {
  fleetTakeBuffer(value: string, lease: string, owner: string, ms: number, leftMs: number): Promise<unknown>
  fleetPut(value: string, lease: string, owner: string, bytes: Buffer, ms: number): Promise<number>
  fleetHold(lease: string, owner: string, ms: number): Promise<number>
  fleetTell(count: string, channel: string, message: Buffer): Promise<number>
  fleetBeat(count: string, nodes: string, node: string, ms: number): Promise<unknown>
}

const fleetScripts = {
  fleetTake: { numberOfKeys: 2, lua: takeScript },
  fleetPut: { numberOfKeys: 2, lua: putScript },
  fleetHold: { numberOfKeys: 1, lua: holdScript },
  fleetTell: { numberOfKeys: 1, lua: tellScript },
  fleetBeat: { numberOfKeys: 2, lua: beatScript },
}

export type FleetClient = (Redis | Cluster) & FleetScripts

export interface FleetConnection {
  readonly client: FleetClient
  /** For long values. */
  readonly bulk: FleetClient
  /** The same as `client` in a cluster, which has connections of its own for what is subscribed to. */
  readonly subscriber: Redis | Cluster
}

const connectMs = 2_000

/** Made once for all connections: each would parse all certificates again, in 20 ms and into a megabyte. */
const trusting = (authority: string): SecureContext =>
  createSecureContext({ ca: [...rootCertificates, authority] })

/** Connects in the background. @param authority in PEM, besides those of the system */
export function connectFleet(
  { hosts, user, password, tls }: FleetAddress,
  authority: string | undefined,
): FleetConnection {
  const redisOptions = {
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: authority === undefined ? {} : { secureContext: trusting(authority) } } : {}),
    connectTimeout: connectMs,
    // A command that cannot be sent now is of no use later.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  } satisfies RedisOptions
  const retryStrategy = (times: number): number => Math.min(100 * times, 1_000)
  const forCommands = { scripts: fleetScripts, enableAutoPipelining: true, enableOfflineQueue: false }
  if (hosts.length > 1) {
    const cluster = (): FleetClient =>
      new Cluster([...hosts], {
        redisOptions,
        ...forCommands,
        shardedSubscribers: true,
        clusterRetryStrategy: retryStrategy,
        // The breaker is quicker than what the client would wait for; each try of a node that is gone asks all others where it went.
        maxRedirections: 4,
        retryDelayOnFailover: 50,
        retryDelayOnTryAgain: 5,
      }) as FleetClient
    const client = cluster()
    return { client, bulk: cluster(), subscriber: client }
  }
  const server = { ...hosts[0], ...redisOptions, retryStrategy }
  const single = (): FleetClient => new Redis({ ...server, ...forCommands }) as FleetClient
  // The client would leave the rejection of its own unheard where the connection breaks once more.
  const subscriber = new Redis({ ...server, autoResubscribe: false })
  return { client: single(), bulk: single(), subscriber }
}

/** Of all its connections: grows with each byte that comes or has left. */
export function movedBytes(client: Redis | Cluster): number {
  const servers = client instanceof Cluster ? client.nodes() : [client]
  return servers.reduce((sum, { stream }) => {
    const { bytesRead = 0, bytesWritten = 0, writableLength = 0 } = (stream ?? {}) as Partial<Socket>
    return sum + bytesRead + bytesWritten - writableLength
  }, 0)
}

/** Reasons that say what to do, because the words of the server do not. */
const nodeOfCluster = 'it is a node of a cluster: name several of its nodes'
const full = 'it is full and evicts nothing: set maxmemory-policy to allkeys-lru'
const tooOld = 'it has no sharded channels: Valkey, or Redis 7 or newer, is wanted'
const wantsCertificate =
  'it wants a certificate of each client, which calcfs has none of: tls-auth-clients no in its file'

/** The client's error of any command meanwhile. */
export const notConnected = 'it is not connected'

/** In few words. A client of a cluster says only that none of its nodes would do, and keeps the reason. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const last: unknown = Reflect.get(thrown, 'lastNodeError')
  const { message } = last instanceof Error ? last : thrown
  if (message.startsWith('NOAUTH')) return 'NOAUTH: it wants a password'
  if (message.startsWith('MOVED')) return nodeOfCluster
  if (/unknown (redis )?command/i.test(message)) return tooOld
  if (message.startsWith('OOM')) return full
  if (/alert certificate required/.test(message)) return wantsCertificate
  if (message.startsWith("Stream isn't writeable")) return notConnected
  // Where in which script says nothing to a user.
  return message
    .replace(/ script: \w+, on @user_script:.*$/s, '')
    .replace(/^\w+:error:\w+:SSL routines:(?:\w*:)*([^:]*):.*$/s, 'TLS: $1')
    .trim()
    .replace(/\.$/, '')
}
