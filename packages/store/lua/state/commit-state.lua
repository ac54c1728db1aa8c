-- Writes records, events and timers in one step, all or nothing.
-- KEYS    1 outbox   2 timers   3 payloads of the timers   4… the records, in the order of ARGV
-- ARGV    1 counts as 'records events timers'
--         then per record: expected version (0: it must not exist), value, time to live in ms (0: for ever)
--         then per event: its JSON
--         then per timer: its name, ms until it falls due, its payload
-- result  1 written; 0 a record has another version, so nothing was written
local recordCount, eventCount, timerCount = string.match(ARGV[1], '^(%d+) (%d+) (%d+)$')
recordCount, eventCount, timerCount = tonumber(recordCount), tonumber(eventCount), tonumber(timerCount)

local function versionOf(stored)
  return stored and tonumber(string.match(stored, '^(%d+):')) or 0
end

for i = 1, recordCount do
  if versionOf(redis.call('GET', KEYS[3 + i])) ~= tonumber(ARGV[3 * i - 1]) then
    return 0
  end
end

local at = 2
for i = 1, recordCount do
  local stored = string.format('%d:%s', ARGV[at] + 1, ARGV[at + 1])
  if ARGV[at + 2] == '0' then
    redis.call('SET', KEYS[3 + i], stored)
  else
    redis.call('SET', KEYS[3 + i], stored, 'PX', ARGV[at + 2])
  end
  at = at + 3
end

for _ = 1, eventCount do
  redis.call('XADD', KEYS[1], '*', 'event', ARGV[at])
  at = at + 1
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _ = 1, timerCount do
  redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[at + 1]), ARGV[at])
  redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 2])
  at = at + 3
end
return 1
