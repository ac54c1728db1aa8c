-- Leases held deliveries to a worker, as many as permits are free, and reserves a permit for each.
-- KEYS    1 in flight   2 posted   3 held   4 clock   5 leased
-- ARGV    1 most deliveries   2 length of the lease in seconds   3 permit that has ended, '' for none
--         4 most in flight, '' for any number   5 most per window, '' likewise   6 how long a permit is reserved, ms   7 window, ms
--         then deliveries that give up what was reserved for them
-- result  1 after how many ms the next delivery may have a permit, -1 if that is not known   then delivery and lease of each
local now = keepTime(KEYS[4], KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[1], ARGV[3])
-- A permit counts until it is a window old: as long as it is reserved.
local since = { now + ARGV[6], now + ARGV[6] - ARGV[7] }
local free = tonumber(ARGV[1])
for i, expired in ipairs({ now, now - ARGV[7] }) do
  if #ARGV > 7 then
    redis.call('ZREM', KEYS[i], unpack(ARGV, 8))
  end
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', digits(expired))
  local most = tonumber(ARGV[3 + i]) or math.huge
  free = math.min(free, most - redis.call('ZCARD', KEYS[i]))
end
local reply = { -1 }
for _, delivery in ipairs(leaseDue(KEYS[3], KEYS[5], free, ARGV[2], reply)) do
  for i = 1, 2 do
    if ARGV[3 + i] ~= '' then
      redis.call('ZADD', KEYS[i], digits(since[i]), delivery)
      -- Not shorter than that of a POST in flight.
      redis.call('PEXPIRE', KEYS[i], digits(math.max(redis.call('PTTL', KEYS[i]), ARGV[6])))
    end
  end
end
if redis.call('ZCARD', KEYS[2]) >= (tonumber(ARGV[5]) or math.huge) then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  reply[1] = math.max(0, oldest[2] + ARGV[7] - now)
end
return reply
