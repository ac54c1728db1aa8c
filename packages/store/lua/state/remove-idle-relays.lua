-- Removes the names of relays that no longer run from one partition of the outbox. Redis itself keeps the name of every
-- consumer that ever read. A relay that holds entries keeps its name, because they would be removed with it. A running relay
-- whose name is removed gets it back with its next claim.
-- KEYS    1 outbox
-- ARGV    1 group   2 this relay   3 idle time in ms after which a name is removed
-- result  how many names were removed
local reply = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
if reply.err then
  -- No event was ever written to this partition, or no relay has claimed from it.
  if string.find(reply.err, 'no such key', 1, true) or string.find(reply.err, 'NOGROUP', 1, true) then
    return 0
  end
  return reply
end

local removed = 0
for _, fields in ipairs(reply) do
  local consumer = {}
  for i = 1, #fields, 2 do
    consumer[fields[i]] = fields[i + 1]
  end
  if consumer.name ~= ARGV[2] and consumer.pending == 0 and consumer.idle >= tonumber(ARGV[3]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    removed = removed + 1
  end
end
return removed
