-- Marks an outage as reported, unless it is over.
-- KEYS    1 breaker
-- ARGV    1 the outage's start, ms
-- result  1, or 0 if there is none now, or another one
local opening = redis.call('HGET', KEYS[1], 'opening')
if not opening or string.match(opening, '^%d+') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'told', ARGV[1])
return 1
