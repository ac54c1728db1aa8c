#!lua flags=allow-oom
-- Notes the result of a count of a tenant's parked (or held) deliveries. Deliveries that were parked during the count stay subtracted.
-- Allowed while Redis is over `maxmemory`, because the limits free memory.
-- KEYS    1 parked-room
-- ARGV    1 the limit per subscription   2 how many the tenant may park before the next count   3 how long no other count
--         begins, in ms   4 how long the count is valid, in ms   5 the limits
-- The caller began at -1 (spend-parked-room.lua).
redis.call('HINCRBY', KEYS[1], 'left', ARGV[2] + 1)
redis.call('HSET', KEYS[1], 'whole', ARGV[1], 'limits', ARGV[5], 'notBefore', digits(clock() + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
