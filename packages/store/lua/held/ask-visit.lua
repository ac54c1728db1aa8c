#!lua flags=allow-oom
-- Asks for a visit to the held deliveries of a subscription, unless an earlier one is asked for. During another visit it is kept
-- apart, so that the end of that visit does not forget it.
-- Allowed while Redis is over `maxmemory`, because deliveries that are no longer held leave it.
-- KEYS    1 visits   2 claims   3 clock
-- ARGV    1 member   2 after how many ms
local now = keepTime(KEYS[3], KEYS[1], KEYS[2])
local at = digits(now + ARGV[2])
local claim = redis.call('ZSCORE', KEYS[2], ARGV[1])
if claim then
  redis.call('ZADD', KEYS[2], 'LT', at, 'asked ' .. ARGV[1])
end
-- Not due before its claim ends: if the worker has died, it would take the place of visits that others can claim.
if tonumber(claim or 0) <= now then
  redis.call('ZADD', KEYS[1], 'LT', at, ARGV[1])
end
