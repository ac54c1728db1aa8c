-- Counts a client's requests in a fixed window that starts with its first request.
-- KEYS    1 requests
-- ARGV    1 how many   2 length of a window in s
-- result  how many there were in this window, and ms until its end
redis.call('SET', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
return { count, redis.call('PTTL', KEYS[1]) }
