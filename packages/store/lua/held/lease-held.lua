-- Leases the held deliveries that have been due for longest to one client. A lease is its end in ms, followed by three digits
-- for its length in seconds.
-- KEYS    1 held   2 leased
-- ARGV    1 most deliveries   2 length of the lease in seconds
-- result  delivery and lease of each
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = string.format('%.0f%03d', now + ARGV[2] * 1000, ARGV[2])
local leased = {}
local lifetime = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]))
for _, delivery in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[1])) do
  redis.call('ZREM', KEYS[1], delivery)
  redis.call('ZADD', KEYS[2], lease, delivery)
  leased[#leased + 1] = delivery
  leased[#leased + 1] = lease
end
if #leased > 0 then
  redis.call('PEXPIRE', KEYS[2], string.format('%.0f', lifetime))
end
return leased
