-- Appends entries to one list of a tenant's audit log and removes entries beyond its size or retention. The lists of a
-- tenant are read as one, so the ids of each list begin at a sequence of its own in each millisecond.
-- KEYS    1 list
-- ARGV    1 most entries   2 retention in ms   3 first sequence of a millisecond   then pairs: action, entry as JSON
local now = clock()
local ms, sequence = now, tonumber(ARGV[3])
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last then
  local last_ms, last_sequence = string.match(last[1], '(%d+)-(%d+)')
  -- The clock may have been set back.
  if tonumber(last_ms) >= now then ms, sequence = tonumber(last_ms), tonumber(last_sequence) + 1 end
end
for at = 4, #ARGV, 2 do
  local id = string.format('%.0f-%.0f', ms, sequence)
  redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], id, 'action', ARGV[at], 'entry', ARGV[at + 1])
  sequence = sequence + 1
end
redis.call('XTRIM', KEYS[1], 'MINID', digits(now - ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
