-- Gives a claimed probe back whose POST was not made: the next delivery can be the probe. Does nothing if the claim has
-- lapsed, or the breaker has closed or begun another cool-down.
-- KEYS    1 breaker
-- ARGV    1 claim
if redis.call('HGET', KEYS[1], 'probe') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'probe', 'probedAt', 'probeUntil')
end
