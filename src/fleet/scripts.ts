// Scripts of a fleet: what the server does in one step, and the names of the keys that it does it with.

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
 * KEYS: how many news there were, nodes by the time of their last beat, their words. ARGV: node, its word, milliseconds.
 * Answers how many nodes there are, and the number of the last news.
 */
const beatScript = `${countOn}
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
for _, node in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now - ARGV[3], 'BYSCORE')) do
  redis.call('ZREM', KEYS[2], node)
  redis.call('HDEL', KEYS[3], node)
end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('PEXPIRE', KEYS[3], ARGV[3])
return {redis.call('ZCARD', KEYS[2]), redis.call('GET', KEYS[1])}`

/** As the client sends them once it knows their names. */
export interface FleetScripts {
  fleetTakeBuffer(value: string, lease: string, owner: string, ms: number, leftMs: number): Promise<unknown>
  fleetPut(value: string, lease: string, owner: string, bytes: Buffer, ms: number): Promise<number>
  fleetHold(lease: string, owner: string, ms: number): Promise<number>
  fleetTell(count: string, channel: string, message: Buffer): Promise<number>
  fleetBeat(
    ...keysAndArgs: readonly [count: string, nodes: string, words: string, node: string, Buffer, ms: number]
  ): Promise<unknown>
}

export const fleetScripts = {
  fleetTake: { numberOfKeys: 2, lua: takeScript },
  fleetPut: { numberOfKeys: 2, lua: putScript },
  fleetHold: { numberOfKeys: 1, lua: holdScript },
  fleetTell: { numberOfKeys: 1, lua: tellScript },
  fleetBeat: { numberOfKeys: 3, lua: beatScript },
}

// The braces keep all keys of one name in one slot of a cluster.
export const valueKey = (name: string): string => `calcfs:{${name}}:v`
/** The pattern of every value, for SCAN. Leases and the list of mounts are of the moment, and end by themselves. */
export const anyValue = 'calcfs:{*}:v'
export const leaseKey = (name: string): string => `calcfs:{${name}}:l`
export const nodesKey = (name: string): string => `calcfs:{${name}}:nodes`
export const wordsKey = (name: string): string => `calcfs:{${name}}:words`
export const countKey = (name: string): string => `calcfs:{${name}}:count`
export const newsChannel = (name: string): string => `calcfs:{${name}}:news`
