-- Ends a claimed look, unless an earlier one was asked for meanwhile.
-- KEYS    1 looks   2 claims
-- ARGV    1 member   2 score of the claim   3 the next look after this many ms, '' for none
-- result  1, or 0 if the score is another
if redis.call('ZSCORE', KEYS[2], ARGV[1]) == ARGV[2] then
  redis.call('ZREM', KEYS[2], ARGV[1])
end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]), ARGV[1])
end
return 1
