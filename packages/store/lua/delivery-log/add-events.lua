-- Adds events that were fanned out to a list of a subscription or a tenant, and removes the oldest entries. An entry that
-- is listed already keeps its place. Scores (µs) are unique within the list, so that they can be cursors.
-- KEYS    1 list
-- ARGV    1 most entries   2 retention in ms   3… entries, the oldest first
-- result  how many entries are new
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local newest = redis.call('ZRANGE', KEYS[1], 0, 0, 'REV', 'WITHSCORES')[2]
if newest and tonumber(newest) >= now then
  now = tonumber(newest) + 1
end
local added = 0
for i = 3, #ARGV do
  added = added + redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now + added), ARGV[i])
end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[2] * 1000))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return added
