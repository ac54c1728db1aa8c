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
