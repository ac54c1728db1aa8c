-- Notes when an endpoint first answered after an outage, provided that the start of the outage was reported.
-- KEYS    1 breaker
-- result  the field `opening`, and when the endpoint answered in ms since 1970; empty if the start was not reported
local opening, told = unpack(redis.call('HMGET', KEYS[1], 'opening', 'told'))
if not opening or not told then
  return {}
end
local time = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'recoveredAt', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return { opening, redis.call('HGET', KEYS[1], 'recoveredAt') }
