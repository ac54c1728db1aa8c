-- Closes the breaker, because the endpoint answered. A pause that the endpoint asked for goes on: the POST of this answer
-- began before it. The failures are then no longer in a row.
-- KEYS    1 breaker
local openedAt, openUntil, paused = unpack(redis.call('HMGET', KEYS[1], 'openedAt', 'openUntil', 'paused'))
local now = clock()
-- A pause that begins in the future was written by a Redis whose clock was ahead: it is over (breaker-store.ts).
if paused and tonumber(openedAt) <= now and now < tonumber(openUntil) then
  -- Not 0: a breaker without failures counts as closed, and the answer to the probe would not be noted.
  redis.call('HSET', KEYS[1], 'failures', 1)
else
  redis.call('UNLINK', KEYS[1])
end
