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

-- How much of its limit the list of the parked deliveries of a subscription takes: those with a body, of which as many may be
-- kept without.
local function parkedSize(parked, parkedLimit)
  local bodiesUntil = redis.call('HGET', parkedLimit, 'bodiesUntil') or '0'
  local whole = redis.call('ZCOUNT', parked, '(' .. bodiesUntil, '+inf')
  return math.max(whole, math.ceil(redis.call('ZCARD', parked) / 2))
end
