-- An endpoint answers again: notes when that was first seen, if it was told that its outage began.
-- KEYS    1 breaker
-- result  the opening, and when it answered, ms since 1970; nothing if nobody was told
local opening, told = unpack(redis.call('HMGET', KEYS[1], 'opening', 'told'))
if not opening or not told then
  return {}
end
local time = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'recoveredAt', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return { opening, redis.call('HGET', KEYS[1], 'recoveredAt') }
