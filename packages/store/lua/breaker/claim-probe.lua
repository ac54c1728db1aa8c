-- Claims the right to contact an endpoint after its cool-down: one claim at a time, over all workers.
-- KEYS    1 breaker
-- ARGV    1 this claim   2 how long it holds if nobody hears of it again, in ms
-- result  1 claimed, or the breaker is closed by now; 0 somebody else probes, or the cool-down runs (anew)
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
