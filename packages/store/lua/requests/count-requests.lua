-- Counts a client's request in the window that its first one began.
-- KEYS    1 requests
-- ARGV    1 how many   2 window in s
-- result  how many there were in this window, and ms until its end
redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
return { count, redis.call('PTTL', KEYS[1]) }
