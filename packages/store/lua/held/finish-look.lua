-- Ends a claimed look. The next one is the earliest of those that were asked for meanwhile and of the one that this look wants.
-- KEYS    1 looks   2 claims
-- ARGV    1 member   2 score of the claim   3 the next look after this many ms, '' for none
-- result  1, or 0 if an earlier look was asked for, or another worker looks
local asked = false
if redis.call('ZSCORE', KEYS[2], ARGV[1]) == ARGV[2] then
  asked = redis.call('ZSCORE', KEYS[2], 'asked ' .. ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1], 'asked ' .. ARGV[1])
end
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
