#!lua flags=allow-oom
-- Subtracts newly parked (or held) deliveries from those that a tenant may park before its lists have to be counted. If there are none
-- left, nothing was counted with these limits, or the caller wants a count, the caller has to count, unless another worker
-- does. Allowed while Redis is over `maxmemory`, because the limits free memory.
-- KEYS    1 parked-room
-- ARGV    1 how many were parked   2 how long the caller may count, in ms   3 how long a count is valid, in ms
--         4 the limits   5 1: the caller wants a count
-- result  the limit per subscription of the last count with these limits, '' without one; 1 the caller has to count, 0 it has not
local left = redis.call('HINCRBY', KEYS[1], 'left', 0 - ARGV[1])
local whole, notBefore, limits = unpack(redis.call('HMGET', KEYS[1], 'whole', 'notBefore', 'limits'))
if limits ~= ARGV[4] then
  whole = false
end
if whole and left >= 0 and ARGV[5] ~= '1' then
  return { whole, 0 }
end
local now = clock()
if notBefore and tonumber(notBefore) > now then
  return { whole or '', 0 }
end
-- Below zero: another worker counts if this one dies.
redis.call('HSET', KEYS[1], 'left', -1, 'notBefore', digits(now + ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { whole or '', 1 }
