-- Leases claimed timers of one partition anew, unless they were set again or are done.
-- KEYS    1 timers   2 payloads of the timers   3 clock of the timers
-- ARGV    1 lease in ms   then pairs of name and payload as claimed
local now = keepTime(KEYS[3], KEYS[1])
local lease = digits(now + ARGV[1])
for i = 2, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZADD', KEYS[1], 'XX', lease, ARGV[i])
  end
end
