-- Notes that an api can be asked. After a gap, a new period of uptime begins.
-- KEYS    1 the periods of uptime
-- ARGV    1 the longest time between two notes of one period, in ms   2 periods that are kept
local now = clock()
local from, to = unpack(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES'))
if not from or now - to > tonumber(ARGV[1]) then
  from = digits(now)
end
-- After a failover to a Redis whose clock is behind, the period keeps its end.
redis.call('ZADD', KEYS[1], 'GT', digits(now), from)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[2])
