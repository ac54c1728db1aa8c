#!lua flags=allow-oom
-- Claims the due visits of one partition. Until a claim is finished or its lease ends, no other worker gets the visit, even if
-- one is asked for meanwhile: two workers would publish the same deliveries.
-- Allowed while Redis is over `maxmemory`, like the question for a visit.
-- KEYS    1 visits   2 claims   3 clock
-- ARGV    1 most   2 lease in ms
-- result  the score that all of them have now, then the members
local now = keepTime(KEYS[3], KEYS[1], KEYS[2])
local lease = digits(now + ARGV[2])
local claimed = { lease }
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, ARGV[1])) do
  if tonumber(redis.call('ZSCORE', KEYS[2], member) or 0) <= now then
    redis.call('ZADD', KEYS[1], lease, member)
    redis.call('ZADD', KEYS[2], lease, member)
    claimed[#claimed + 1] = member
  end
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return claimed
