-- Removes timers of one part that were handled, unless they were set anew meanwhile.
-- KEYS    1 timers   2 their payloads
-- ARGV    pairs of name and payload as handed out
-- result  how many were removed
local removed = 0
for i = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZREM', KEYS[1], ARGV[i])
    redis.call('HDEL', KEYS[2], ARGV[i])
    removed = removed + 1
  end
end
return removed
