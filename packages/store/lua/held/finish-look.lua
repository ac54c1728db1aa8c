-- Ends a claimed look. The next one is the earliest of those that were asked for meanwhile and of the one that this look wants.
-- KEYS    1 looks   2 claims
-- ARGV    1 member   2 score of the claim   3 the next look after this many ms, '' for none
-- result  1, or 0 if an earlier look was asked for, another worker looks, or the claim has ended
if redis.call('ZSCORE', KEYS[2], ARGV[1]) ~= ARGV[2] then
  -- What was asked for since the claim ended is not kept apart: the look stays due.
  return 0
end
local asked = redis.call('ZSCORE', KEYS[2], 'asked ' .. ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1], 'asked ' .. ARGV[1])
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' and not asked then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return 1
end
local next = math.huge
if ARGV[3] ~= '' then
  local time = redis.call('TIME')
  next = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
end
redis.call('ZADD', KEYS[1], string.format('%.0f', math.min(next, tonumber(asked or next))), ARGV[1])
return 1
