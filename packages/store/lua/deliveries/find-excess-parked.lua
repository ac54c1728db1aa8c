-- Finds the parked deliveries of a subscription beyond what it may keep, the oldest first. Changes nothing.
-- KEYS    1 parked   2 parked-limit   3 parked-extras
-- ARGV    1 units of those that keep their body; twice as many are kept in all   2 most names to return of each kind
-- result  the size of the list; Redis' time in µs; names to drop, then names whose body to release, each followed by its place
--         in the list (µs)
local most = tonumber(ARGV[2])
local drop, bodies = {}, {}
local excess = math.min(redis.call('ZCARD', KEYS[1]) - 2 * ARGV[1], most)
if excess > 0 then
  drop = redis.call('ZRANGE', KEYS[1], 0, excess - 1, 'WITHSCORES')
end
local after = '(' .. (redis.call('HGET', KEYS[2], 'bodiesUntil') or '0')
excess = redis.call('ZCOUNT', KEYS[1], after, '+inf') + sumOfExtras(KEYS[3]) - ARGV[1]
if excess > 0 then
  local oldest = redis.call('ZRANGEBYSCORE', KEYS[1], after, '+inf', 'WITHSCORES', 'LIMIT', 0, math.min(excess, most))
  for i = 1, #oldest, 2 do
    if excess > 0 then
      bodies[i], bodies[i + 1] = oldest[i], oldest[i + 1]
      excess = excess - unitsOf(KEYS[3], oldest[i])
    end
  end
end
return { parkedSize(KEYS[1], KEYS[2], KEYS[3]), digits(clock() * 1000), drop, bodies }
