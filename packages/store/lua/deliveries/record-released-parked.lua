#!lua flags=allow-oom
-- Records which parked deliveries of a subscription were released because it has too many. Repeating it changes nothing.
-- Allowed while Redis is over `maxmemory`, because it frees memory.
-- KEYS    1 parked   2 parked-limit   3 parked-extras
-- ARGV    1 retention in ms   2 place in the list (µs) up to which bodies were released, '' for no change   3 how many names were
--         dropped   then these, then names of deliveries that are parked no longer
-- result  how many were dropped by this call; the size of the list
local dropped = 0
for i = 4, #ARGV do
  local removed = redis.call('ZREM', KEYS[1], ARGV[i])
  setExtra(KEYS[3], ARGV[i], 0)
  if i < 4 + ARGV[3] then
    dropped = dropped + removed
  end
end
if dropped > 0 then
  redis.call('HINCRBY', KEYS[2], 'dropped', dropped)
end
local bodiesUntil = redis.call('HGET', KEYS[2], 'bodiesUntil') or '0'
if ARGV[2] ~= '' and tonumber(ARGV[2]) > tonumber(bodiesUntil) then
  if sumOfExtras(KEYS[3]) > 0 then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. bodiesUntil, ARGV[2])) do
      setExtra(KEYS[3], member, 0)
    end
  end
  redis.call('HSET', KEYS[2], 'bodiesUntil', ARGV[2])
end
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return { dropped, parkedSize(KEYS[1], KEYS[2], KEYS[3]) }
