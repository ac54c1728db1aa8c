-- Begins a receiver check, unless one of the same subscription runs or the tenant has too many.
-- KEYS    1 checks of the tenant
-- ARGV    1 subscription   2 lease in ms   3 checks of a tenant that may run at the same time
-- result  'begun', 'running' (the same subscription is being checked) or 'too-many'
local now = clock()
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now))
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 'running'
end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 'too-many'
end
redis.call('ZADD', KEYS[1], digits(now + ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 'begun'
