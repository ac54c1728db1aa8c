-- Writes one subscription if it is still what the writer has read, and tells every cache by a new revision.
-- KEYS    1 the tenant's subscriptions   2 the tenant's revision
-- ARGV    1 id   2 JSON as read, '' for none   3 JSON to write, '' to remove   4 the new revision
-- result  1 written, 0 somebody else was faster
local present = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if present ~= ARGV[2] then
  return 0
end
if present ~= '' then
  -- First, because Redis over `maxmemory` refuses a script's first write if it may take memory: a subscription can then
  -- still be deleted or disabled, and none can be created.
  redis.call('HDEL', KEYS[1], ARGV[1])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
redis.call('SET', KEYS[2], ARGV[4])
return 1
