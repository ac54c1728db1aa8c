-- Records when an endpoint first answered after an outage, if the start of the outage was reported. The worker that recorded it
-- reports it: to the others, whose POSTs were answered at the same time, it tells nothing until a publish must have ended.
-- KEYS    1 breaker
-- result  the field `opening`, and when the endpoint answered in ms since 1970; empty if the start was not reported, or the
--         end is being reported
local PUBLISH_MS = 10000
local opening, told, recoveredAt = unpack(redis.call('HMGET', KEYS[1], 'opening', 'told', 'recoveredAt'))
if not opening or told ~= string.match(opening, '^%d+') then
  return {}
end
local now = clock()
if recoveredAt and now - tonumber(recoveredAt) < PUBLISH_MS then
  return {}
end
if not recoveredAt then
  recoveredAt = digits(now)
  redis.call('HSET', KEYS[1], 'recoveredAt', recoveredAt)
end
return { opening, recoveredAt }
