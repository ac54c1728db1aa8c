-- Reads the places of the next subscriptions of a tenant, the oldest first.
-- KEYS    1 the tenant's subscriptions   2 the tenant's revision   3 their order
-- ARGV    1 the place after which to begin, '' for the first   2 how many
-- result  the places; nil if the order does not describe the present subscriptions
local count = redis.call('HLEN', KEYS[1])
if count == 0 then
  return {}
end
local mark = '!' .. (redis.call('GET', KEYS[2]) or '')
if not redis.call('ZSCORE', KEYS[3], mark) or redis.call('ZCARD', KEYS[3]) ~= count + 1 then
  return false
end
-- Places begin with a digit, so this leaves out the mark, which sorts before them.
local from = ARGV[1] == '' and '[0' or '(' .. ARGV[1]
return redis.call('ZRANGE', KEYS[3], from, '+', 'BYLEX', 'LIMIT', 0, ARGV[2])
