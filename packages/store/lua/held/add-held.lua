-- Lists a held delivery. It ends a lease, whose client then learns that it lost the delivery. Entries whose messages have
-- expired are removed.
-- KEYS    1 held   2 leased   3 clock   4 in flight   5 posted
-- ARGV    1 delivery   2 when it is due, ms   3 lifetime of the lists in ms   4 '1': only if it is not listed
-- result  1 if both lists were empty, else 0
keepTime(KEYS[3], KEYS[1], KEYS[4], KEYS[5])
local held, leased = redis.call('ZSCORE', KEYS[1], ARGV[1]), redis.call('ZSCORE', KEYS[2], ARGV[1])
if ARGV[4] == '1' and (held or leased) then
  return 0
end
local isFirst = redis.call('EXISTS', KEYS[1], KEYS[2]) == 0
local due = ARGV[2]
if held == due then
  -- Another score, so that a reader of the entry before does not remove this one.
  due = digits(due + 1)
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(clock() - ARGV[3]))
redis.call('ZADD', KEYS[1], due, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return isFirst and 1 or 0
