-- Claims the due looks of one partition: other workers see them as due after a lease.
-- KEYS    1 looks
-- ARGV    1 most   2 lease in ms
-- result  the score that all of them have now, then the members
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = string.format('%.0f', now + ARGV[2])
local claimed = { lease }
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], lease, member)
  claimed[#claimed + 1] = member
end
return claimed
