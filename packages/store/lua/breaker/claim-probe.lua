-- Claims the probe: the one POST to an endpoint after its cool-down. One claim is valid at a time, over all workers.
-- KEYS    1 breaker
-- ARGV    1 this claim   2 lease in ms, after which another worker may claim
-- result  1 claimed, or the breaker has closed; 0 another worker holds the probe, or a cool-down runs
local openUntil, probe, probeUntil = unpack(redis.call('HMGET', KEYS[1], 'openUntil', 'probe', 'probeUntil'))
if not openUntil then
  return 1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(openUntil) > now or (probe and tonumber(probeUntil) > now) then
  return 0
end
redis.call('HSET', KEYS[1], 'probe', ARGV[1], 'probeUntil', string.format('%.0f', now + ARGV[2]))
return 1
