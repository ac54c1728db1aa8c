-- Gives leased deliveries back to their place: they are due since the same time as before.
-- KEYS    1 held   2 leased
-- ARGV    delivery, lease and due time in ms of each
-- result  1 for each that was given back, 0 for one whose lease was lost
local lifetime = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]))
local now = clock()
local released = {}
for i = 1, #ARGV, 3 do
  local isHolder = redis.call('ZSCORE', KEYS[2], ARGV[i]) == ARGV[i + 1]
  if isHolder then
    -- It was due, also if the clock is behind now.
    redis.call('ZREM', KEYS[2], ARGV[i])
    redis.call('ZADD', KEYS[1], digits(math.min(ARGV[i + 2], now)), ARGV[i])
    redis.call('PEXPIRE', KEYS[1], digits(lifetime))
  end
  released[#released + 1] = isHolder and 1 or 0
end
return released
