-- Leases the held deliveries that have been due for longest to one client or worker. Of a subscription with limits, as many as
-- permits are free, and reserves a permit for each. A lease is its end in ms, followed by three digits for its length in seconds.
-- KEYS    1 held   2 leased   3 clock   4 in flight   5 posted
-- ARGV    1 most deliveries   2 length of the lease in seconds
--         with limits: 3 most in flight, '' for any number   4 most per window, '' likewise   5 window, ms   6 how long a permit
--         is reserved, ms   7 permit that has ended, '' for none   then deliveries that give up what was reserved for them
-- result  1 after how many ms the next delivery may have a permit, -1 if that is not known   then delivery and lease of each
local now = clock()
keepTime(KEYS[3], KEYS[1], KEYS[4], KEYS[5])
local mostInFlight, mostPosted = tonumber(ARGV[3]), tonumber(ARGV[4])
if ARGV[7] then
  redis.call('ZREM', KEYS[4], ARGV[7])
  for i = 8, #ARGV do
    redis.call('ZREM', KEYS[4], ARGV[i])
    redis.call('ZREM', KEYS[5], ARGV[i])
  end
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', digits(now))
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', digits(now - ARGV[5]))
end
local free = tonumber(ARGV[1])
if mostInFlight then
  free = math.min(free, mostInFlight - redis.call('ZCARD', KEYS[4]))
end
if mostPosted then
  free = math.min(free, mostPosted - redis.call('ZCARD', KEYS[5]))
end
local reply = { -1 }
if free > 0 then
  local lease = string.format('%.0f%03d', now + ARGV[2] * 1000, ARGV[2])
  local lifetime = digits(math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2])))
  local due = redis.call('ZRANGE', KEYS[1], '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, free)
  for _, delivery in ipairs(due) do
    redis.call('ZREM', KEYS[1], delivery)
    redis.call('ZADD', KEYS[2], lease, delivery)
    reply[#reply + 1] = delivery
    reply[#reply + 1] = lease
    if mostInFlight then
      redis.call('ZADD', KEYS[4], digits(now + ARGV[6]), delivery)
      -- Not shorter than that of a POST in flight.
      redis.call('PEXPIRE', KEYS[4], digits(math.max(redis.call('PTTL', KEYS[4]), ARGV[6])))
    end
    if mostPosted then
      -- A permit counts until it is a window old: as long as it is reserved.
      redis.call('ZADD', KEYS[5], digits(now + ARGV[6] - ARGV[5]), delivery)
      redis.call('PEXPIRE', KEYS[5], ARGV[6])
    end
  end
  if #due > 0 then
    redis.call('PEXPIRE', KEYS[2], lifetime)
  end
end
if mostPosted and redis.call('ZCARD', KEYS[5]) >= mostPosted then
  local oldest = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')
  reply[1] = math.max(0, oldest[2] + ARGV[5] - now)
end
return reply
