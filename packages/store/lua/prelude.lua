-- Precedes the text of every script (scripts.ts).

-- Redis' clock, in ms since 1970.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A whole number as text. Lua may write a large one with an exponent.
local function digits(number)
  return string.format('%.0f', number)
end

-- Keeps the times in sorted sets right after a failover to a Redis whose clock is behind: otherwise all that is due would wait
-- until this clock has caught up. Moves the times to come by the difference.
-- `seen`: the key of the time of the last call for these sets
local function keepTime(seen, ...)
  local now = clock()
  local behind = tonumber(redis.call('GET', seen) or 0) - now
  if behind > 1000 then
    for _, set in ipairs({ ... }) do
      local coming = redis.call('ZRANGE', set, digits(now), '+inf', 'BYSCORE', 'WITHSCORES')
      for i = 1, #coming, 2 do
        redis.call('ZADD', set, digits(coming[i + 1] - behind), coming[i])
      end
    end
  end
  if behind > 1000 or behind < -100 then
    redis.call('SET', seen, digits(now), 'PX', 3600000)
  end
end

-- How much of its limit the list of the parked deliveries of a subscription takes: those with a body, of which as many may be
-- kept without.
local function parkedSize(parked, parkedLimit)
  local bodiesUntil = redis.call('HGET', parkedLimit, 'bodiesUntil') or '0'
  local whole = redis.call('ZCOUNT', parked, '(' .. bodiesUntil, '+inf')
  return math.max(whole, math.ceil(redis.call('ZCARD', parked) / 2))
end
