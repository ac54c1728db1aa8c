-- Writes one subscription if it has not been changed since it was read. The new revision makes every cache read again.
-- KEYS    1 the tenant's subscriptions   2 the tenant's revision   3 their order
-- ARGV    1 id   2 JSON as read, '' for none   3 JSON to write, '' to remove   4 the new revision   5 its place in the order
-- result  1 written, 0 changed by another writer since it was read
local present = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if present ~= ARGV[2] then
  return 0
end
local mark = '!' .. (redis.call('GET', KEYS[2]) or '')
if present ~= '' then
  -- First, because Redis over `maxmemory` refuses a script's first write if it may take memory: a subscription can then
  -- still be deleted or disabled, and none can be created.
  redis.call('HDEL', KEYS[1], ARGV[1])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
redis.call('SET', KEYS[2], ARGV[4])
-- An order without this mark misses a write of an older version: it stays as it is, and is built anew when it is read.
if redis.call('ZREM', KEYS[3], mark) == 1 then
  if ARGV[3] == '' then
    redis.call('ZREM', KEYS[3], ARGV[5])
  else
    redis.call('ZADD', KEYS[3], 0, ARGV[5])
  end
  if redis.call('ZCARD', KEYS[3]) > 0 then
    redis.call('ZADD', KEYS[3], 0, '!' .. ARGV[4])
  end
end
return 1
