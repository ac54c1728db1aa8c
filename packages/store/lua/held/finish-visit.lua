-- Ends a claimed visit, unless another worker visits or the claim has ended. The next one is the earliest of those that were
-- asked for meanwhile and of the one that this visit wants.
-- KEYS    1 visits   2 claims
-- ARGV    1 member   2 score of the claim   3 the next visit after this many ms, '' for none
if redis.call('ZSCORE', KEYS[2], ARGV[1]) ~= ARGV[2] then
  -- What was asked for since the claim ended is not kept apart: the visit stays due.
  return
end
local next = tonumber(redis.call('ZSCORE', KEYS[2], 'asked ' .. ARGV[1]) or math.huge)
redis.call('ZREM', KEYS[2], ARGV[1], 'asked ' .. ARGV[1])
if ARGV[3] ~= '' then
  next = math.min(next, clock() + ARGV[3])
end
if next == math.huge then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], digits(next), ARGV[1])
end
