-- Appends deliveries to the pending index, which finds them before they have a record (pending-index.ts).
-- KEYS    for each tenant: the length of a window, then one string per bucket
-- ARGV    1 length of a window in ms   2 retention of a string in ms
--         3… for each tenant: number of buckets, the entries for each of their strings
local length, retention = ARGV[1], tonumber(ARGV[2])
local key, at = 1, 3
while key <= #KEYS do
  -- Renewed now and then: a reader needs it for less than the retention of a string.
  if redis.call('GET', KEYS[key]) ~= length or redis.call('PTTL', KEYS[key]) < retention * 63 / 64 then
    redis.call('SET', KEYS[key], length, 'PX', retention)
  end
  local buckets = tonumber(ARGV[at])
  for i = 1, buckets do
    local entries = ARGV[at + i]
    if redis.call('APPEND', KEYS[key + i], entries) == #entries then
      redis.call('PEXPIRE', KEYS[key + i], retention)
    end
  end
  key = key + 1 + buckets
  at = at + 1 + buckets
end
