-- Claims the probe: the one POST to an endpoint after its cool-down. One claim is valid at a time, over all workers.
-- KEYS    1 breaker
-- ARGV    1 this claim   2 lease in ms, after which another worker may claim
-- result  1 claimed, or the breaker has closed; 0 another worker holds the probe, or a cool-down runs
local openedAt, openUntil, probedAt, probeUntil =
  unpack(redis.call('HMGET', KEYS[1], 'openedAt', 'openUntil', 'probedAt', 'probeUntil'))
if not openUntil then
  return 1
end
local now = clock()
if runs(now, openedAt, openUntil) or runs(now, probedAt, probeUntil) then
  return 0
end
local nowMs, untilMs = digits(now), digits(now + ARGV[2])
redis.call('HSET', KEYS[1], 'probe', ARGV[1], 'probedAt', nowMs, 'probeUntil', untilMs)
return 1
