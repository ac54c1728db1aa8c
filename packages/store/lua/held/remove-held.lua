-- Removes entries, unless they have changed since they were read.
-- KEYS    1 the list: held, leased or parking   of held and leased: 2 held-extras   of leases: 3 reported; what was reported under a
--         lease goes with it
-- ARGV    delivery and score of each
for i = 1, #ARGV, 2 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZREM', KEYS[1], ARGV[i])
    if KEYS[2] then
      setExtra(KEYS[2], ARGV[i], 0)
    end
  end
  local report = KEYS[3] and redis.call('HGET', KEYS[3], ARGV[i])
  if report and string.match(report, '^%d+') == ARGV[i + 1] then
    redis.call('HDEL', KEYS[3], ARGV[i])
  end
end
