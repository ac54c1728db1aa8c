-- Adds a request that has an idempotency key to the list of its client or tenant, and finds the oldest ones beyond the limit. While Redis
-- is over `maxmemory` the request is not listed, but the others are still found, because forgetting them frees memory.
-- KEYS    1 the requests of the client or tenant
-- ARGV    1 the request's scope   2 the limit   3 how far the list may exceed it before any are returned
--         4 retention in ms
-- result  1 listed, 0 no memory for it; then the scopes to forget, the oldest first, usually none
local now = clock()
-- The first write, and so the only one that Redis may refuse.
local added = redis.pcall('ZADD', KEYS[1], 'NX', digits(now), ARGV[1])
local result = { 1 }
if type(added) == 'table' and added.err then
  if not string.find(added.err, '^OOM') then
    return added
  end
  result[1] = 0
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now - ARGV[4]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local excess = redis.call('ZCARD', KEYS[1]) - ARGV[2]
if excess > tonumber(ARGV[3]) then
  -- Bounded, in case the limit was lowered by a lot.
  for _, scope in ipairs(redis.call('ZRANGE', KEYS[1], 0, math.min(excess, 1000) - 1)) do
    result[#result + 1] = scope
  end
end
return result
