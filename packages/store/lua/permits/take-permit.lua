-- Takes a permit for one POST, if the limits of the subscription allow it.
-- KEYS    1 in flight   2 posted   3 held   4 clock
-- ARGV    1 permit   2 permit that it replaces, '' for none   3 delivery; it gives up what was reserved for it
--         4 most in flight, '' for any number   5 most per window, '' likewise   6 lifetime in flight, ms   7 window, ms
--         8 '1': held deliveries that are due go first
-- result  1, or 0: none is free
local now = keepTime(KEYS[4], KEYS[1], KEYS[2], KEYS[3])
for i = 1, 2 do
  redis.call('ZREM', KEYS[i], ARGV[1], ARGV[3])
end
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(now))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', digits(now - ARGV[7]))
if ARGV[8] == '1' and redis.call('ZCOUNT', KEYS[3], '-inf', digits(now)) > 0 then
  return 0
end
for i = 1, 2 do
  if ARGV[3 + i] ~= '' and redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[3 + i]) then
    return 0
  end
end
if ARGV[4] ~= '' then
  redis.call('ZADD', KEYS[1], digits(now + ARGV[6]), ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
end
if ARGV[5] ~= '' then
  redis.call('ZADD', KEYS[2], digits(now), ARGV[1])
  -- Not shorter than what is reserved.
  redis.call('PEXPIRE', KEYS[2], digits(math.max(redis.call('PTTL', KEYS[2]), ARGV[7])))
end
return 1
