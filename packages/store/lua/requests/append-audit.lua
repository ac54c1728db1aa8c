-- Appends an entry to a tenant's audit log and removes entries beyond its size or retention.
-- KEYS    1 audit
-- ARGV    1 action   2 entry, JSON   3 most entries   4 retention in ms
-- result  the entry's id
local id = redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], '*', 'action', ARGV[1], 'entry', ARGV[2])
local time = redis.call('TIME')
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f', time[1] * 1000 - ARGV[4]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return id
