-- Records how long a tenant's list of the parked (or held) deliveries of a subscription is, and when it crosses its limit. If
-- the tenant is over its limit, one caller at a time is told to cut the longest list: two would cut more than is over. Sizes
-- are recorded when a delivery is listed and when a list is cut, so a list can be shorter than its size says: the cut reads it
-- first.
-- KEYS    1 sizes   2 total   3 crossings   4 notices   of parked deliveries: 5 parking subscriptions
-- ARGV    1 subscription   2 size   3 what it was before it was cut to its limit   4 limit per subscription   5 limit per tenant
--         6 share of a limit beyond which a notice is due   7 share of a crossed limit below which the next one can be due
--         8 how long all of this is kept, in ms   9 the cut after which this is the size, '' for none   10 how long no other
--         caller cuts, in ms; 0: this caller does not cut now
-- result  1 if a notice is due now, else 0   by how many the tenant is over its limit   to a caller that has to cut: its
--         subscription with the longest list, how many that list keeps, the name of the cut
local now = clock()

local function checkLimit(subscription, size, limit)
  local crossed = tonumber(redis.call('HGET', KEYS[3], subscription) or nil)
  if crossed and size < crossed * ARGV[7] then
    redis.call('HDEL', KEYS[3], subscription)
    redis.call('HDEL', KEYS[4], subscription)
    crossed = nil
  end
  local isDue = not crossed and size > math.floor(limit * ARGV[6])
  if isDue then
    redis.call('HSET', KEYS[4], subscription, string.format('%.0f %.0f %.0f', now, limit, size))
  end
  -- While the tenant is over its limit, the list becomes shorter, which is no further crossing.
  if isDue or crossed and limit < crossed then
    redis.call('HSET', KEYS[3], subscription, digits(limit))
  end
  return isDue and 1 or 0
end

local size = tonumber(ARGV[2])
local reply = { checkLimit(ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])) }
local sum = redis.call('HINCRBY', KEYS[2], 'sum', size - (redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0))
if size > 0 then
  redis.call('ZADD', KEYS[1], size, ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
local cut = redis.call('HGET', KEYS[2], 'cut')
if cut == ARGV[9] then
  redis.call('HDEL', KEYS[2], 'cut')
  cut = false
end
local over = math.max(0, sum - ARGV[5])
reply[2] = over
if over > 0 and ARGV[10] ~= '0' and tonumber(cut or 0) <= now then
  local longest, longestSize, _, nextSize = unpack(redis.call('ZREVRANGE', KEYS[1], 0, 1, 'WITHSCORES'))
  -- Not far below the next one, which is cut then.
  local keep = longestSize - math.min(over, math.max(longestSize - (nextSize or 0), math.ceil(over / 10)))
  checkLimit(longest, tonumber(longestSize), math.max(1, keep))
  cut = digits(now + ARGV[10])
  redis.call('HSET', KEYS[2], 'cut', cut)
  reply = { reply[1], over, longest, keep, cut }
end
if KEYS[5] then
  redis.call('ZADD', KEYS[5], 'GT', digits(now), ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', digits(now - ARGV[8]))
  -- Lists are made of the 1,000 latest.
  redis.call('ZREMRANGEBYRANK', KEYS[5], 0, -10001)
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[8])
end
return reply
