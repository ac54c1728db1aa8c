-- Closes the breaker, because the endpoint answered. A cool-down that a Retry-After began goes on: the POST of this answer
-- began before it. The failures are then no longer in a row. Results that hung are still known, among the last ones.
-- KEYS    1 breaker   2 the tenant's subscriptions
-- ARGV    1 how many results are known   2 retention in ms   3 subscription   4 retention in ms if it is deleted
local openedAt, openUntil, paused, earlier =
  unpack(redis.call('HMGET', KEYS[1], 'openedAt', 'openUntil', 'paused', 'recent'))
if paused and runs(clock(), openedAt, openUntil) then
  -- Not 0: a breaker without failures counts as closed, and the answer to the probe would not be recorded.
  redis.call('HSET', KEYS[1], 'failures', 1)
else
  redis.call('UNLINK', KEYS[1])
  local recent = string.sub((earlier or '') .. '.', -ARGV[1])
  if string.find(recent, 'h', 1, true) then
    redis.call('HSET', KEYS[1], 'recent', recent)
    redis.call('PEXPIRE', KEYS[1], redis.call('HEXISTS', KEYS[2], ARGV[3]) == 1 and ARGV[2] or ARGV[4])
  end
end
