#!lua flags=allow-oom
-- Claims outbox entries of one partition for a relay: its own unsent ones first, then those of dead relays, then new ones.
-- Allowed while Redis is over `maxmemory`, because draining the outbox frees memory.
-- KEYS    1 outbox
-- ARGV    1 group   2 this relay   3 most entries   4 idle time in ms after which another relay counts as dead
-- result  flat list of entry id, event JSON
local outbox, group, relay, max, idle = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

local claimed = {}
local count = 0
local function take(entries)
  for _, entry in ipairs(entries or {}) do
    if entry[2] then
      count = count + 1
      claimed[2 * count - 1] = entry[1]
      claimed[2 * count] = entry[2][2]
    else
      -- Deleted, but still in the group's pending list: nothing is left to send.
      redis.call('XACK', outbox, group, entry[1])
    end
  end
end
local function read(from)
  local reply = redis.pcall('XREADGROUP', 'GROUP', group, relay, 'COUNT', max - count, 'STREAMS', outbox, from)
  if reply and reply.err then
    return reply
  end
  take(reply and reply[1][2])
end

-- Reading its own entries again also resets this relay's idle time, so that the others do not take them over.
local failed = read('0')
if failed and string.find(failed.err, '^NOGROUP') then
  -- This Redis does not have the group yet. It begins at the first entry, so that it skips none.
  redis.call('XGROUP', 'CREATE', outbox, group, '0', 'MKSTREAM')
  failed = read('0')
end
if failed then
  return failed
end
if count < max then
  take(redis.call('XAUTOCLAIM', outbox, group, relay, idle, '0', 'COUNT', max - count)[2])
end
if count < max then
  failed = read('>')
end
return failed or claimed
