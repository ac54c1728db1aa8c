-- Writes records, events and timers in one step, all or nothing. Claims the events for a relay, if one is named.
-- KEYS    1 outbox   2 timers   3 payloads of the timers   4 clock of the timers   5… the records, in the order of ARGV
-- ARGV    1 counts as 'records events timers'   2 group of the relays   3 name of the relays, to claim the events ('': no)
--         4 idle time in ms after which a relay counts as dead
--         then per record: expected version (0: it must not exist), '<next version>:<value>', time to live in ms
--         (0: for ever)
--         then per event: its JSON
--         then per timer: its name, ms until it falls due, its payload, '1': only if it is not set
-- result  written 1, then per event its entry id, or '' if it is not claimed;
--         written 0: a record has another version, so nothing was written
local recordCount, eventCount, timerCount = string.match(ARGV[1], '^(%d+) (%d+) (%d+)$')
recordCount, eventCount, timerCount = tonumber(recordCount), tonumber(eventCount), tonumber(timerCount)

-- The version is in the first bytes; the value can have kilobytes.
local function versionOf(key)
  return tonumber(string.match(redis.call('GETRANGE', key, 0, 19), '^(%d+):') or 0)
end

for i = 1, recordCount do
  if versionOf(KEYS[4 + i]) ~= tonumber(ARGV[3 * i + 2]) then
    return { 0 }
  end
end

local at = 5
for i = 1, recordCount do
  if ARGV[at + 2] == '0' then
    redis.call('SET', KEYS[4 + i], ARGV[at + 1])
  else
    redis.call('SET', KEYS[4 + i], ARGV[at + 1], 'PX', ARGV[at + 2])
  end
  at = at + 3
end

local result = { 1 }
for i = 1, eventCount do
  result[1 + i] = redis.call('XADD', KEYS[1], '*', 'event', ARGV[at])
  at = at + 1
end

if timerCount > 0 then
  local now = keepTime(KEYS[4], KEYS[2])
  for _ = 1, timerCount do
    if ARGV[at + 3] ~= '1' or not redis.call('ZSCORE', KEYS[2], ARGV[at]) then
      redis.call('ZADD', KEYS[2], digits(now + ARGV[at + 1]), ARGV[at])
      redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 2])
    end
    at = at + 4
  end
end

-- The group delivers the oldest unclaimed entries: those of this commit, unless older ones are left. Older ones, and so the
-- rest of this commit, are left to the next pass of any relay. An error must not fail the commit, which is written: without
-- the group, the next pass creates it and claims all entries.
local taken = {}
if eventCount > 0 and ARGV[3] ~= '' then
  local reply = redis.pcall('XREADGROUP', 'GROUP', ARGV[2], ARGV[3], 'COUNT', eventCount, 'STREAMS', KEYS[1], '>')
  for _, entry in ipairs(reply and not reply.err and reply[1][2] or {}) do
    taken[entry[1]] = true
  end
end
for i = 2, 1 + eventCount do
  local id = result[i]
  result[i] = taken[id] and id or ''
  taken[id] = nil
end
for older in pairs(taken) do
  redis.pcall('XCLAIM', KEYS[1], ARGV[2], ARGV[3], 0, older, 'IDLE', ARGV[4], 'JUSTID')
end
return result
