-- Deletes a field of a hash, unless its value has changed.
-- KEYS    1 hash
-- ARGV    1 field   2 value
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], ARGV[1])
end
