-- Appends events to the journals of tenants and removes the oldest. An event that is journaled already keeps its place. The
-- id of an entry is its time: milliseconds, then the microseconds within; the index has the same time as one number.
-- A journal exceeds its limits by a little, so that few calls remove anything: its number by a 32nd, its age by a 64th.
-- A long one exceeds its number by 64 only: Redis serves nothing else while it removes entries.
-- KEYS    for each tenant: journal, index
-- ARGV    1 most events   2 retention in ms
--         3… for each tenant: number of events; of each event: its id, its entry, its data
-- result  how many events are new
local most, retention = tonumber(ARGV[1]), tonumber(ARGV[2])
local lifetime = retention + math.floor(retention / 64)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function idAt(micros)
  return string.format('%.0f-%.0f', math.floor(micros / 1000), micros % 1000)
end

local function append(journal, index, at, count)
  local first = now
  local newest = redis.call('ZRANGE', index, 0, 0, 'REV', 'WITHSCORES')[2]
  if newest and tonumber(newest) >= now then
    first = tonumber(newest) + 1
  end
  local places = {}
  for i = 1, count do
    places[2 * i - 1] = string.format('%.0f', first + i - 1)
    places[2 * i] = ARGV[at + 3 * i - 2]
  end
  local added = redis.call('ZADD', index, 'NX', unpack(places))
  for i = 1, count do
    -- An event that has another place was journaled before.
    if added == count or redis.call('ZSCORE', index, places[2 * i]) == places[2 * i - 1] then
      redis.call('XADD', journal, idAt(first + i - 1), 'event', ARGV[at + 3 * i - 1], 'data', ARGV[at + 3 * i])
    end
  end
  return added
end

local function trim(journal, index)
  local excess = redis.call('ZCARD', index) - most
  if excess > math.min(most / 32, 64) then
    redis.call('ZREMRANGEBYRANK', index, 0, excess - 1)
    redis.call('XTRIM', journal, 'MAXLEN', most)
  end
  local left = redis.call('PTTL', journal)
  if left < retention or left > lifetime then
    local oldest = now - retention * 1000
    redis.call('ZREMRANGEBYSCORE', index, '-inf', '(' .. string.format('%.0f', oldest))
    redis.call('XTRIM', journal, 'MINID', idAt(oldest))
    redis.call('PEXPIRE', journal, lifetime)
    redis.call('PEXPIRE', index, lifetime)
  end
end

local added, at = 0, 3
for key = 1, #KEYS, 2 do
  local count = tonumber(ARGV[at])
  added = added + append(KEYS[key], KEYS[key + 1], at, count)
  trim(KEYS[key], KEYS[key + 1])
  at = at + 1 + 3 * count
end
return added
