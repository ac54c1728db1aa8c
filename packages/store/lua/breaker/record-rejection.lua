-- Records a rejected delivery for the recovery that the endpoint's next 2xx starts. The text changes with every rejection: one
-- that is recorded while that recovery begins stays for the next. Nothing is recorded of a deleted subscription.
-- KEYS    1 rejected   2 the tenant's subscriptions
-- ARGV    1 when the delivery was parked, in ms since 1970   2 id of the recovery to come   3 retention in ms   4 subscription
if redis.call('HEXISTS', KEYS[2], ARGV[4]) == 0 then
  return
end
local first = string.match(redis.call('GET', KEYS[1]) or '', '^%d+') or ARGV[1]
local earliest = math.min(tonumber(first), tonumber(ARGV[1]))
redis.call('SET', KEYS[1], digits(earliest) .. ' ' .. ARGV[2], 'PX', ARGV[3])
