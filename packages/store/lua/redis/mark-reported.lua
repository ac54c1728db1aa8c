-- Notes that the notice of an outage was published, unless it is over or another one has begun.
-- KEYS    1 breaker
-- ARGV    1 the field that begins with its start   2 its start, in ms since 1970
if string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^%d+') == ARGV[2] then
  redis.call('HSET', KEYS[1], 'told', ARGV[2])
end
