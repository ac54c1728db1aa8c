-- Claims the due timers of one partition and reschedules each to the end of a lease. An unfinished timer falls due again.
-- KEYS    1 timers   2 payloads of the timers   3 clock of the timers
-- ARGV    1 most timers   2 lease in ms   3 most due timers to look through   then owners whose timers are left as they are
-- result  payloads, the longest due first
local now = keepTime(KEYS[3], KEYS[1])
local lease = digits(now + ARGV[2])
local isLeft = {}
for i = 4, #ARGV do
  isLeft[ARGV[i]] = true
end
local claimed = {}
for _, timer in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, ARGV[3])) do
  if #claimed == tonumber(ARGV[1]) then
    break
  end
  -- A name is the tenant, which has no colon, the owner, and the rest.
  if not isLeft[string.match(timer, '^[^:]*:([^:]*):') or ''] then
    local payload = redis.call('HGET', KEYS[2], timer)
    if payload then
      redis.call('ZADD', KEYS[1], lease, timer)
      claimed[#claimed + 1] = payload
    else
      redis.call('ZREM', KEYS[1], timer)
    end
  end
end
return claimed
