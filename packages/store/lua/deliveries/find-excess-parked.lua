-- Finds the parked deliveries of a subscription beyond its limit, the oldest first. Removes none of them. Forgets the last
-- crossing of the limit once few enough bodies are left.
-- KEYS    1 parked   2 parked-limit
-- ARGV    1 how many keep their body   2 how many are kept in all   3 most names to return of each kind
--         4 number of bodies below which the last crossing is forgotten
-- result  how many are parked; names to drop; names whose body to release, each followed by its place in the list (µs)
local count = redis.call('ZCARD', KEYS[1])
local most = tonumber(ARGV[3])
local drop = {}
if count > tonumber(ARGV[2]) then
  drop = redis.call('ZRANGE', KEYS[1], 0, math.min(count - ARGV[2], most) - 1)
end
local bodiesUntil = redis.call('HGET', KEYS[2], 'bodiesUntil') or '0'
local whole = redis.call('ZCOUNT', KEYS[1], '(' .. bodiesUntil, '+inf')
if whole < tonumber(ARGV[4]) then
  redis.call('HDEL', KEYS[2], 'crossedAt', 'crossedLimit', 'crossedCount', 'told')
end
local bodies = {}
if whole > tonumber(ARGV[1]) then
  local excess = math.min(whole - ARGV[1], most)
  bodies = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. bodiesUntil, '+inf', 'WITHSCORES', 'LIMIT', 0, excess)
end
return { count, drop, bodies }
