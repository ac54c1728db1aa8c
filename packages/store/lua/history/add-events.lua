-- Adds events that were fanned out to lists of subscriptions and tenants, and removes the oldest entries. An entry that is
-- listed already keeps its place. Scores (µs) are unique within a list, so that they can be cursors.
-- A list exceeds its limits by a little, so that few calls remove anything: its number by a 32nd, its age by a 64th.
-- A long one exceeds its number by 64 only: Redis serves nothing else while it removes entries.
-- KEYS    the lists
-- ARGV    for each list: most entries, retention in ms, number of entries, the entries from the oldest on
-- result  how many entries are new
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function add(list, at, count)
  local first = now
  local newest = redis.call('ZRANGE', list, 0, 0, 'REV', 'WITHSCORES')[2]
  if newest and tonumber(newest) >= now then
    first = tonumber(newest) + 1
  end
  local entries = {}
  for i = 1, count do
    entries[2 * i - 1] = string.format('%.0f', first + i - 1)
    entries[2 * i] = ARGV[at + i]
  end
  return redis.call('ZADD', list, 'NX', unpack(entries))
end

local function trim(list, most, retention)
  local excess = redis.call('ZCARD', list) - most
  if excess > math.min(most / 32, 64) then
    redis.call('ZREMRANGEBYRANK', list, 0, excess - 1)
  end
  local lifetime = retention + math.floor(retention / 64)
  local left = redis.call('PTTL', list)
  if left < retention or left > lifetime then
    redis.call('ZREMRANGEBYSCORE', list, '-inf', string.format('%.0f', now - retention * 1000))
    redis.call('PEXPIRE', list, lifetime)
  end
end

local added, at = 0, 1
for _, list in ipairs(KEYS) do
  local count = tonumber(ARGV[at + 2])
  added = added + add(list, at + 2, count)
  trim(list, tonumber(ARGV[at]), tonumber(ARGV[at + 1]))
  at = at + 3 + count
end
return added
