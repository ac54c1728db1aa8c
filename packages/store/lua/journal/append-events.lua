-- Appends events to a tenant's journal and removes the oldest. An event that is journaled already keeps its place. The id
-- of an entry is its time: milliseconds, then the microseconds within; the index has the same time as one number.
-- KEYS    1 journal   2 index
-- ARGV    1 most events   2 retention in ms   3… event id, its entry, its data
-- result  how many events are new
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local newest = redis.call('ZRANGE', KEYS[2], 0, 0, 'REV', 'WITHSCORES')[2]
if newest and tonumber(newest) >= now then
  now = tonumber(newest) + 1
end
local added = 0
for i = 3, #ARGV, 3 do
  local at = now + added
  if redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', at), ARGV[i]) == 1 then
    local id = string.format('%.0f-%.0f', math.floor(at / 1000), at % 1000)
    redis.call('XADD', KEYS[1], id, 'event', ARGV[i + 1], 'data', ARGV[i + 2])
    added = added + 1
  end
end
local oldest = now - ARGV[2] * 1000
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. string.format('%.0f', oldest))
redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[1])
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f-%.0f', math.floor(oldest / 1000), oldest % 1000))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return added
