-- Builds the order of a tenant's subscriptions, unless they have changed since they were read.
-- KEYS    1 the tenant's revision   2 the order
-- ARGV    1 the revision as read, '' for none   2… the places of all subscriptions
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return
end
redis.call('DEL', KEYS[2])
if #ARGV > 1 then
  redis.call('ZADD', KEYS[2], 0, '!' .. ARGV[1])
end
for i = 2, #ARGV do
  redis.call('ZADD', KEYS[2], 0, ARGV[i])
end
