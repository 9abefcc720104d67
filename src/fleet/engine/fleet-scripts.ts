// Fleet scripts: what the server does in one step, and the names of the keys that it does it with.

// A server that is full and evicts nothing refuses SET: what lies there is read all the same, and a lease is given up.

/** KEYS: value, lease. ARGV: owner, milliseconds, for how many more a value must count. An owner may take it again. */
const takeScript = `local value = redis.call('GET', KEYS[1])
if value then
  local left = redis.call('PTTL', KEYS[1])
  if left > tonumber(ARGV[3]) then return {value, left} end
end
local set = redis.pcall('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
if type(set) == 'table' and set.err then return 2 end
return (set or redis.call('GET', KEYS[2]) == ARGV[1]) and 1 or 0`
/** The same where the value is long, and fetched by a GET beside this: a script would copy it twice more. 3: it is there. */
const claimScript = `if redis.call('EXISTS', KEYS[1]) == 1 then return 3 end
local set = redis.pcall('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2])
if type(set) == 'table' and set.err then return 2 end
return (set or redis.call('GET', KEYS[2]) == ARGV[1]) and 1 or 0`
/** KEYS: value, lease. ARGV: owner, value, milliseconds, channel. */
const putScript = `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local set = redis.pcall('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('DEL', KEYS[2])
redis.call('SPUBLISH', ARGV[4], '')
return type(set) == 'table' and set.err and 2 or 1`
/** KEYS: lease. ARGV: owner, channel. */
const releaseScript = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SPUBLISH', ARGV[2], '')
return 1`
/** KEYS: lease. ARGV: owner, milliseconds. */
const renewScript = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`
/** KEYS: value, lease. ARGV: channel, milliseconds, perhaps a value. A lease that goes makes what its owner puts void. */
const changeScript = `redis.call('DEL', KEYS[1], KEYS[2])
if ARGV[3] then redis.pcall('SET', KEYS[1], ARGV[3], 'PX', ARGV[2]) end
redis.call('SPUBLISH', ARGV[1], '')
return 1`
/**
 * The same of what a node itself has changed. KEYS: value, lease, who changed it last. ARGV: channel, milliseconds, node,
 * milliseconds for which that is known, perhaps a value. Where another node has changed it lately, or that cannot be known,
 * no value can be told to be the newer one, and none is put: 2.
 */
const replaceScript = `local last = redis.call('GET', KEYS[3])
local noted = redis.pcall('SET', KEYS[3], ARGV[3], 'PX', ARGV[4])
local isAlone = not (last and last ~= ARGV[3]) and not (type(noted) == 'table' and noted.err)
redis.call('DEL', KEYS[1], KEYS[2])
if ARGV[5] and isAlone then redis.pcall('SET', KEYS[1], ARGV[5], 'PX', ARGV[2]) end
redis.call('SPUBLISH', ARGV[1], '')
return isAlone and 1 or 2`
/** A count that was lost goes on with the milliseconds since 1970: no number comes a second time. Where there is no room, it is 0. */
const countOn = `if redis.call('EXISTS', KEYS[1]) == 0 then
  local time = redis.call('TIME')
  redis.pcall('SET', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), 'PX', 86400000)
end`
/** KEYS: how many news there were. ARGV: channel, message. What is missed shows as a gap in the numbers. */
const tellScript = `${countOn}
local count = redis.pcall('INCR', KEYS[1])
if type(count) == 'table' then count = '?'
else
  count = string.format('%.0f', count)
  redis.call('PEXPIRE', KEYS[1], 86400000)
end
redis.call('SPUBLISH', ARGV[1], count .. ' ' .. ARGV[2])
return 1`
/** KEYS: the same. ARGV: channel of the node itself, message. */
const echoScript = `${countOn}
redis.call('SPUBLISH', ARGV[1], (redis.call('GET', KEYS[1]) or '0') .. ' ' .. ARGV[2])
return 1`
/** KEYS: nodes by the time they were there last, what they said. ARGV: node, value, milliseconds. */
const beatScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
local gone = redis.call('ZRANGE', KEYS[1], '-inf', now - ARGV[3], 'BYSCORE')
for _, node in ipairs(gone) do
  redis.call('ZREM', KEYS[1], node)
  redis.call('HDEL', KEYS[2], node)
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return redis.call('ZCARD', KEYS[1])`

/** As the client sends them once it knows their names. */
export interface FleetScripts {
  fleetBeat(nodes: string, said: string, node: string, value: Buffer, ms: number): Promise<number>
  fleetTakeBuffer(value: string, lease: string, owner: string, ms: number, leftMs: number): Promise<unknown>
  fleetClaim(value: string, lease: string, owner: string, ms: number): Promise<number>
  fleetPut(
    value: string,
    lease: string,
    owner: string,
    bytes: Buffer,
    ms: number,
    channel: string,
  ): Promise<number>
  fleetRelease(lease: string, owner: string, channel: string): Promise<number>
  fleetRenew(lease: string, owner: string, ms: number): Promise<number>
  fleetChange(value: string, lease: string, channel: string, ms: number, bytes?: Buffer): Promise<number>
  fleetReplace(
    value: string,
    lease: string,
    writer: string,
    ...args: readonly [channel: string, ms: number, node: string, writerMs: number, bytes?: Buffer]
  ): Promise<number>
  fleetTell(count: string, channel: string, message: Buffer): Promise<number>
  fleetEcho(count: string, channel: string, message: Buffer): Promise<number>
}

export const fleetScripts = {
  fleetTake: { numberOfKeys: 2, lua: takeScript },
  fleetClaim: { numberOfKeys: 2, lua: claimScript },
  fleetPut: { numberOfKeys: 2, lua: putScript },
  fleetRelease: { numberOfKeys: 1, lua: releaseScript },
  fleetRenew: { numberOfKeys: 1, lua: renewScript },
  fleetChange: { numberOfKeys: 2, lua: changeScript },
  fleetReplace: { numberOfKeys: 3, lua: replaceScript },
  fleetTell: { numberOfKeys: 1, lua: tellScript },
  fleetEcho: { numberOfKeys: 1, lua: echoScript },
  fleetBeat: { numberOfKeys: 2, lua: beatScript },
}

// The braces keep all keys of one name in one slot of a cluster.
export const valueKey = (name: string): string => `calcfs:{${name}}:v`
/** The pattern of every value, for SCAN. Leases, budgets and the list of mounts are of the moment, and end by themselves. */
export const anyValue = 'calcfs:{*}:v'
export const leaseKey = (name: string): string => `calcfs:{${name}}:l`
export const writerKey = (name: string): string => `calcfs:{${name}}:by`
export const nodesKey = (name: string): string => `calcfs:{${name}}:nodes`
export const saidKey = (name: string): string => `calcfs:{${name}}:said`
export const countKey = (name: string): string => `calcfs:{${name}}:count`
export const newsChannel = (name: string): string => `calcfs:{${name}}:news`
/** On the server that carries the news: who hears itself there hears the others. */
export const echoChannel = (name: string, node: string): string => `calcfs:{${name}}:echo:${node}`
export const channelOf = (name: string): string => `calcfs:{${name}}:w`
