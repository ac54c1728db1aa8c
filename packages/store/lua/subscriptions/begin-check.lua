-- Begins a check of a receiver, unless one of the same subscription, or as many of its tenant as may be, are under way.
-- KEYS    1 checks of the tenant
-- ARGV    1 subscription   2 how long it holds if nobody ends it, in ms   3 how many at a time
-- result  'begun', 'running' (of the same subscription) or 'too-many'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 'running'
end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 'too-many'
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 'begun'
