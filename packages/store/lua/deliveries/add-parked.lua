-- Adds a parked delivery to its subscription's list and removes entries older than the retention.
-- KEYS    1 parked   2 parked-limit   3 parked-extras
-- ARGV    1 '<delivery>:<run>'   2 retention in ms   3 units that it takes beyond one
-- result  when it was first added, in µs; unique within the list, so that it can be a cursor   the size of the list
local since = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not since then
  local now = nextScore(KEYS[1], micros())
  since = digits(now)
  redis.call('ZADD', KEYS[1], since, ARGV[1])
  setExtra(KEYS[3], ARGV[1], tonumber(ARGV[3]))
  removeUpTo(KEYS[1], KEYS[3], digits(now - ARGV[2] * 1000))
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
return { since, parkedSize(KEYS[1], KEYS[2], KEYS[3]) }
