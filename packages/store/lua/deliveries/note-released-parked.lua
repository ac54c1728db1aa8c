#!lua flags=allow-oom
-- Notes which parked deliveries of a subscription were released because it has too many. Repeating it changes nothing.
-- Allowed while Redis is over `maxmemory`, because it frees memory.
-- KEYS    1 parked   2 parked-limit
-- ARGV    1 retention in ms   2 place in the list (µs) up to which bodies were released, '' for no change   3 the limit
--         4 how many were parked   5… names that were dropped
-- result  how many were dropped by this call
local dropped = 0
for i = 5, #ARGV do
  dropped = dropped + redis.call('ZREM', KEYS[1], ARGV[i])
end
if dropped > 0 then
  redis.call('HINCRBY', KEYS[2], 'dropped', dropped)
end
if ARGV[2] ~= '' and tonumber(ARGV[2]) > tonumber(redis.call('HGET', KEYS[2], 'bodiesUntil') or '0') then
  redis.call('HSET', KEYS[2], 'bodiesUntil', ARGV[2])
end
if redis.call('HEXISTS', KEYS[2], 'crossedAt') == 0 then
  redis.call('HSET', KEYS[2], 'crossedAt', digits(clock()), 'crossedLimit', ARGV[3], 'crossedCount', ARGV[4])
end
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return dropped
