-- Writes one subscription if it has not changed since it was read. The new revision invalidates every cache.
-- KEYS    1 the tenant's subscriptions   2 the tenant's revision   3 their order   4 their latest changes
--         5 their external ids   6 the bytes of their JSON   7 the latest removed ones, the oldest first
--         keys whose names end in the id: 8 what is kept of this subscription once it is removed   9 its cool-downs
--         10 its breaker   11 its contact   12 its rejections
-- ARGV    1 id   2 JSON as read, '' for none   3 JSON to write, '' to remove   4 the new revision   5 its place in the order
--         6 from how many subscriptions on changes are listed   7 most changes   8 retention of the changes in ms
--         9 subscriptions that a tenant can have, '' for any number   10 external id as read, '' for none   11 to write
--         12 bytes that a tenant can have, '' for any number
--         to remove: 13 what is kept of it, '' for nothing   14 for how long, in ms   15 of how many of the tenant that and the
--         cool-downs are kept   16 how long these are known, in ms   17 how long the breaker is kept, in ms
-- result  1 written, 0 changed by another writer since it was read, 2 there are too many for a new one, 3 they would have
--         too many bytes; or the id of the subscription that has the external id
local present = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if present ~= ARGV[2] then
  return 0
end
if present == '' and ARGV[9] ~= '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[9]) then
  return 2
end
local growth = #ARGV[3] - #present
if growth > 0 and ARGV[12] ~= '' then
  -- A tenth is left for changes, so that a subscription can be disabled and its secret rotated at the limit.
  local most = tonumber(ARGV[12]) * (present == '' and 1 or 1.1)
  if tonumber(redis.call('GET', KEYS[6]) or 0) + growth > most then
    return 3
  end
end
local before, after = ARGV[10], ARGV[11]
if after ~= '' then
  local owner = redis.call('HGET', KEYS[5], after)
  if owner and owner ~= ARGV[1] then
    return owner
  end
end
local revision = redis.call('GET', KEYS[2]) or ''
if present ~= '' then
  -- HDEL comes first: Redis over `maxmemory` refuses a script only if its first write can take memory. So subscriptions
  -- can still be deleted and disabled, but not created.
  redis.call('HDEL', KEYS[1], ARGV[1])
end
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
else
  redis.call('DEL', KEYS[11], KEYS[12])
  redis.call('PEXPIRE', KEYS[10], ARGV[17], 'LT')
  if ARGV[13] ~= '' then
    redis.call('SET', KEYS[8], ARGV[13], 'PX', ARGV[14])
  end
  redis.call('RPUSH', KEYS[7], ARGV[1])
  redis.call('PEXPIRE', KEYS[7], ARGV[16])
  if redis.call('LLEN', KEYS[7]) > tonumber(ARGV[15]) then
    local oldest = redis.call('LPOP', KEYS[7])
    for i = 8, 9 do
      redis.call('DEL', string.sub(KEYS[i], 1, -#ARGV[1] - 1) .. oldest)
    end
  end
end
if before ~= '' and before ~= after and redis.call('HGET', KEYS[5], before) == ARGV[1] then
  redis.call('HDEL', KEYS[5], before)
end
if after ~= '' then
  redis.call('HSET', KEYS[5], after, ARGV[1])
end
redis.call('SET', KEYS[2], ARGV[4])
if redis.call('HLEN', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[6])
else
  redis.call('INCRBY', KEYS[6], growth)
end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[3], ARGV[5])
else
  redis.call('ZADD', KEYS[3], 0, ARGV[5])
end
if redis.call('HLEN', KEYS[1]) < tonumber(ARGV[6]) then
  redis.call('DEL', KEYS[4])
else
  redis.call('RPUSH', KEYS[4], revision .. ' ' .. ARGV[4] .. ' ' .. ARGV[1])
  redis.call('LTRIM', KEYS[4], -ARGV[7], -1)
  redis.call('PEXPIRE', KEYS[4], ARGV[8])
end
return 1
