-- Hands entries of one part of the outbox to a relay: its own that it has not sent, those of relays that died, new ones.
-- KEYS    1 outbox
-- ARGV    1 group   2 this relay   3 how many at most   4 idle ms after which another relay counts as dead
-- result  flat list of entry id, event JSON
local outbox, group, relay, max, idle = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

-- A Redis that was started empty knows no group; it begins with the first entry, so none is passed over.
local created = redis.pcall('XGROUP', 'CREATE', outbox, group, '0', 'MKSTREAM')
if created.err and not string.find(created.err, '^BUSYGROUP') then
  return created
end

local claimed = {}
local count = 0
local function take(entries)
  for _, entry in ipairs(entries or {}) do
    if entry[2] then
      count = count + 1
      claimed[2 * count - 1] = entry[1]
      claimed[2 * count] = entry[2][2]
    else
      -- Deleted, yet still noted as handed out: nothing is left to send.
      redis.call('XACK', outbox, group, entry[1])
    end
  end
end
local function read(from)
  local reply = redis.call('XREADGROUP', 'GROUP', group, relay, 'COUNT', max - count, 'STREAMS', outbox, from)
  take(reply and reply[1][2])
end

-- Reading its own anew also tells the other relays that this one lives.
read('0')
if count < max then
  take(redis.call('XAUTOCLAIM', outbox, group, relay, idle, '0', 'COUNT', max - count)[2])
end
if count < max then
  read('>')
end
return claimed
