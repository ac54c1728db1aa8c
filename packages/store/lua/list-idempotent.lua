-- Lists a request that has an idempotency key under its client, and finds the oldest ones beyond the limit.
-- KEYS    1 the client's requests
-- ARGV    1 the request's scope   2 how many are kept   3 how many more may gather before any are returned
--         4 retention in ms
-- result  scopes to forget, the oldest first; mostly none
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[4]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local excess = redis.call('ZCARD', KEYS[1]) - ARGV[2]
if excess <= tonumber(ARGV[3]) then
  return {}
end
-- Bounded, for a limit that was lowered by much.
return redis.call('ZRANGE', KEYS[1], 0, math.min(excess, 1000) - 1)
