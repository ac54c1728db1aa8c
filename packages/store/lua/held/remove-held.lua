-- Removes entries, unless they have changed since they were read.
-- KEYS    1 the list: held or leased
-- ARGV    delivery and score of each
for i = 1, #ARGV, 2 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
