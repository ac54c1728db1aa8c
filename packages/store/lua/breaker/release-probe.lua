-- Gives a claimed probe back whose POST was not made: the next delivery can be the probe.
-- KEYS    1 breaker
-- ARGV    1 claim
-- result  1 given back, or 0: the claim has lapsed, or the breaker has closed or begun another cool-down
if redis.call('HGET', KEYS[1], 'probe') ~= ARGV[1] then
  return 0
end
redis.call('HDEL', KEYS[1], 'probe', 'probedAt', 'probeUntil')
return 1
