-- Leaves to the next claim what an earlier process of this relay's name has not sent, as if that relay were dead.
-- KEYS    1 outbox
-- ARGV    1 group   2 relay   3 idle time in ms after which a relay counts as dead   4 most entries
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', ARGV[4], ARGV[2])
if pending.err then
  -- No event was ever written to this partition, or no relay has claimed from it.
  if string.find(pending.err, '^NOGROUP') then
    return
  end
  return pending
end
for _, entry in ipairs(pending) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, entry[1], 'IDLE', ARGV[3], 'JUSTID')
end
