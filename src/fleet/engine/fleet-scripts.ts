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

/**
 * Of the requests that all nodes may have in flight, each has a part, for as long as it says so.
 * KEYS: parts by node, nodes by the time they spoke last, sums. ARGV: node, how many it keeps, how many it wants, the limit
 * of all, milliseconds after which it is forgotten. Each node gives back at its next word what is over its fair part;
 * where there are fewer than nodes, each has one for one request. Answers its part, how many others want more than they
 * have, and whether there are fewer than nodes. A server that needs room may drop one of the keys alone, and its clock may
 * be set back: what does not fit together, or was said later than now, counts no more. A sum that leaves nothing is counted
 * again once a second: another program may have written it.
 */
const shareScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local parts, spoke, sums = KEYS[1], KEYS[2], KEYS[3]
local counted = tonumber(redis.call('HGET', sums, 'nodes') or 0)
if redis.call('ZCARD', spoke) ~= counted or redis.call('EXISTS', parts) ~= (counted > 0 and 1 or 0) then
  redis.call('DEL', parts, spoke)
  redis.call('HDEL', sums, 'parts', 'short', 'nodes')
end
local function forget(node)
  local part = redis.call('HGET', parts, node)
  if not part then return end
  local size, short = string.match(part, '(%d+) (%d)')
  redis.call('HINCRBY', sums, 'parts', 0 - size)
  redis.call('HINCRBY', sums, 'short', 0 - short)
  redis.call('HINCRBY', sums, 'nodes', -1)
  redis.call('HDEL', parts, node)
  redis.call('ZREM', spoke, node)
end
for _, node in ipairs(redis.call('ZRANGE', spoke, '-inf', now - ARGV[5], 'BYSCORE', 'LIMIT', 0, 100)) do forget(node) end
for _, node in ipairs(redis.call('ZRANGE', spoke, '(' .. now, '+inf', 'BYSCORE', 'LIMIT', 0, 100)) do forget(node) end
forget(ARGV[1])
local function sum(name) return tonumber(redis.call('HGET', sums, name) or 0) end
if sum('parts') >= tonumber(ARGV[4]) or sum('parts') < 0 or sum('short') < 0 then
  local ago = now - sum('countedAt')
  if ago < 0 or ago >= 1000 then
    local total, waiting = 0, 0
    for _, part in ipairs(redis.call('HVALS', parts)) do
      local size, short = string.match(part, '(%d+) (%d)')
      total, waiting = total + size, waiting + short
    end
    redis.call('HSET', sums, 'parts', total, 'short', waiting, 'countedAt', now)
  end
end
local keeps, wants, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local slowed, since = sum('width'), now - sum('slowedAt')
if slowed > 0 and since >= 0 then limit = math.min(limit, slowed * 2 ^ math.floor(since / 10000)) end
local part = math.min(wants, math.max(0, limit - sum('parts')))
if sum('short') > 0 and wants > 0 then
  part = math.min(part, math.max(1, math.floor(limit / (sum('nodes') + 1))))
end
local others = sum('short')
local isScarce = limit < sum('nodes') + 1 and 1 or 0
local holds = math.max(keeps, part)
if wants > 0 or holds > 0 then
  local short = wants > part and 1 or 0
  redis.call('HSET', parts, ARGV[1], holds .. ' ' .. short)
  redis.call('ZADD', spoke, now, ARGV[1])
  redis.call('HINCRBY', sums, 'parts', holds)
  redis.call('HINCRBY', sums, 'short', short)
  redis.call('HINCRBY', sums, 'nodes', 1)
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 60000) end
return {part, others, isScarce}`
/** KEYS: sums. ARGV: the limit. The service is overloaded: half of what is in use, twice the time between requests; it wears off. */
const slowScript = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function sum(name) return tonumber(redis.call('HGET', KEYS[1], name) or 0) end
local since = now - sum('slowedAt')
if since < 0 then since = 1000000 end
if since < 1000 then return 0 end
local worn = 2 ^ math.floor(since / 10000)
local limit = tonumber(ARGV[1])
if sum('width') > 0 then limit = math.min(limit, sum('width') * worn) end
local width = math.max(1, math.floor(math.min(limit, math.max(1, sum('parts'))) / 2))
local times = math.min(16, math.max(1, sum('times') / worn) * 2)
redis.call('HSET', KEYS[1], 'width', width, 'times', times, 'slowedAt', now)
redis.call('PEXPIRE', KEYS[1], 60000)
return 1`
/** KEYS: sums. ARGV: microseconds between two requests. Reserves the next turn; how many microseconds it is ahead. */
const turnScript = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function sum(name) return tonumber(redis.call('HGET', KEYS[1], name) or 0) end
local since = now / 1000 - sum('slowedAt')
local times = since < 0 and 1 or sum('times') / 2 ^ math.floor(since / 10000)
local isBack = sum('turnAt') > now
local turn = isBack and now or math.max(sum('free'), now)
local free = string.format('%.0f', turn + ARGV[1] * math.max(1, times))
redis.call('HSET', KEYS[1], 'free', free, 'turnAt', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], 60000)
return turn - now`

/** As the client sends them once it knows their names. */
export interface FleetScripts {
  fleetShare(
    parts: string,
    spoke: string,
    sums: string,
    ...args: readonly [node: string, keeps: number, wants: number, limit: number, ms: number]
  ): Promise<readonly [part: number, short: number, isScarce: number]>
  fleetSlow(sums: string, limit: number): Promise<number>
  fleetTurn(sums: string, microseconds: number): Promise<number>
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
  fleetShare: { numberOfKeys: 3, lua: shareScript },
  fleetSlow: { numberOfKeys: 1, lua: slowScript },
  fleetTurn: { numberOfKeys: 1, lua: turnScript },
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
export const partsKey = (name: string): string => `calcfs:{${name}}:parts`
export const spokeKey = (name: string): string => `calcfs:{${name}}:spoke`
export const sumsKey = (name: string): string => `calcfs:{${name}}:sums`
export const countKey = (name: string): string => `calcfs:{${name}}:count`
export const newsChannel = (name: string): string => `calcfs:{${name}}:news`
/** On the server that carries the news: who hears itself there hears the others. */
export const echoChannel = (name: string, node: string): string => `calcfs:{${name}}:echo:${node}`
export const channelOf = (name: string): string => `calcfs:{${name}}:w`
