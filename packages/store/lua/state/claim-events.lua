#!lua flags=allow-oom
-- Claims outbox entries of one partition for a relay: those of dead relays and those that were given back, then new ones.
-- Allowed while Redis is over `maxmemory`, because draining the outbox frees memory.
-- KEYS    1 outbox
-- ARGV    1 group   2 name of the relays   3 most entries   4 idle time in ms after which a relay counts as dead
-- result  flat list of entry id, event JSON
local outbox, group, relay, max, idle = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

local claimed = {}
local function take(entries)
  for _, entry in ipairs(entries or {}) do
    claimed[#claimed + 1] = entry[1]
    claimed[#claimed + 1] = entry[2][2]
  end
end

local idles = redis.pcall('XAUTOCLAIM', outbox, group, relay, idle, '0', 'COUNT', max)
if idles.err and string.find(idles.err, '^NOGROUP') then
  -- This Redis does not have the group yet. It begins at the first entry, so that it skips none.
  redis.call('XGROUP', 'CREATE', outbox, group, '0', 'MKSTREAM')
elseif idles.err then
  return idles
else
  take(idles[2])
end
local left = max - #claimed / 2
if left > 0 then
  local reply = redis.call('XREADGROUP', 'GROUP', group, relay, 'COUNT', left, 'STREAMS', outbox, '>')
  take(reply and reply[1][2])
end
return claimed
