#!lua flags=allow-oom
-- Notes that the notice of an outage or of a crossed limit was published, unless it is over or another one has begun.
-- Allowed while Redis is over `maxmemory`, because the limits free memory.
-- KEYS    1 breaker, parked-limit or held-limit
-- ARGV    1 the field that begins with its start   2 its start, in ms since 1970
if string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^%d+') == ARGV[2] then
  redis.call('HSET', KEYS[1], 'told', ARGV[2])
end
