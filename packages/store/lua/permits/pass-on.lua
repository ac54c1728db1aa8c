-- Leases the held deliveries that have been due for longest to one worker, as many as permits are free, and reserves a permit
-- for each. A lease is that of `held/lease-held`.
-- KEYS    1 in flight   2 posted   3 held   4 leased
-- ARGV    1 most in flight, '' for any number   2 most per window, '' likewise   3 window, ms   4 how long a permit in flight is
--         reserved, ms   5 length of the lease in seconds   6 most deliveries   7 permit that has ended, '' for none
--         then deliveries that give up what was reserved for them
-- result  1 after how many ms the next delivery may have a permit, -1 if that is not known   then delivery and lease of each
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREM', KEYS[1], ARGV[7])
for i = 8, #ARGV do
  redis.call('ZREM', KEYS[1], ARGV[i])
  redis.call('ZREM', KEYS[2], ARGV[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[3]))
local free = tonumber(ARGV[6])
for i = 1, 2 do
  if ARGV[i] ~= '' then
    free = math.min(free, ARGV[i] - redis.call('ZCARD', KEYS[i]))
  end
end
local reply = { -1 }
if free > 0 then
  local lease = string.format('%.0f%03d', now + ARGV[5] * 1000, ARGV[5])
  local lifetime = string.format('%.0f', math.max(redis.call('PTTL', KEYS[3]), redis.call('PTTL', KEYS[4])))
  local due = redis.call('ZRANGE', KEYS[3], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, free)
  for _, delivery in ipairs(due) do
    redis.call('ZREM', KEYS[3], delivery)
    redis.call('ZADD', KEYS[4], lease, delivery)
    reply[#reply + 1] = delivery
    reply[#reply + 1] = lease
    if ARGV[1] ~= '' then
      redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[4]), delivery)
      -- Not shorter than that of a POST in flight.
      redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(redis.call('PTTL', KEYS[1]), ARGV[4])))
    end
    if ARGV[2] ~= '' then
      redis.call('ZADD', KEYS[2], string.format('%.0f', now), delivery)
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
    end
  end
  if #due > 0 then
    redis.call('PEXPIRE', KEYS[4], lifetime)
  end
end
if ARGV[2] ~= '' and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  reply[1] = math.max(0, oldest[2] + ARGV[3] - now)
end
return reply
