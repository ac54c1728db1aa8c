-- Gives a relay the entries of one partition that another name holds: that of the commits of an earlier process with its
-- name.
-- KEYS    1 outbox
-- ARGV    1 group   2 relay   3 the other name   4 most entries
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', ARGV[4], ARGV[3])
if pending.err then
  -- No event was ever written to this partition, or no relay has claimed from it.
  if string.find(pending.err, '^NOGROUP') then
    return
  end
  return pending
end
for _, entry in ipairs(pending) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, entry[1], 'JUSTID')
end
