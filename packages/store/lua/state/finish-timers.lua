-- Removes handled timers of one partition, unless they were set again meanwhile.
-- KEYS    1 timers   2 payloads of the timers
-- ARGV    pairs of name and payload as claimed
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZREM', KEYS[1], ARGV[i])
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
end
