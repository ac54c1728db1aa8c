#!lua flags=allow-oom
-- Notes that the notice of a crossing was published, unless the limit was crossed again since. Allowed while Redis is over
-- `maxmemory`, because the limits free memory.
-- KEYS    1 parked-limit
-- ARGV    1 when the limit was crossed, in ms since 1970
-- result  1 noted, 0 there is another crossing or none
if redis.call('HGET', KEYS[1], 'crossedAt') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'told', '1')
return 1
