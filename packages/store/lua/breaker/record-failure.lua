-- Counts a transient failure of an endpoint. The Nth failure in a row opens the breaker in the same step, and so do N that
-- hung among the last 2 N results, and a failure with a Retry-After, which alone is no outage. A failed probe starts a new cool-down. While the breaker is open,
-- any other failure changes nothing: its attempt began before the breaker opened, or its claim to probe has lapsed.
-- A deleted subscription gets no history, and its breaker is soon forgotten.
-- KEYS    1 breaker   2 its history   3 the tenant's subscriptions
-- ARGV    1 failures in a row that open it   2 cool-down in ms   3 the probe's claim, '' for none   4 retention in ms
--         5 result of the attempt, for the notice   6 periods that the history keeps   7 its retention in ms
--         8 Retry-After of the endpoint in ms, 0 for none   9 'h' if the POST hung, else '.'   10 subscription
--         11 retention in ms if it is deleted
-- result  1 this failure starts a cool-down, else 0
local openUntil, probe, opening, earlier =
  unpack(redis.call('HMGET', KEYS[1], 'openUntil', 'probe', 'opening', 'recent'))
if openUntil and (ARGV[3] == '' or probe ~= ARGV[3]) then
  return 0
end
local failures = redis.call('HINCRBY', KEYS[1], 'failures', 1)
local most, retryAfter = tonumber(ARGV[1]), tonumber(ARGV[8])
local recent = string.sub((earlier or '') .. ARGV[9], -2 * most)
local _, hangs = string.gsub(recent, 'h', '')
local isFailing = failures >= most or hangs >= most or opening
if hangs > 0 then
  -- After a cool-down they are counted anew. One is kept: deliveries of the endpoint still start in a lane.
  redis.call('HSET', KEYS[1], 'recent', isFailing and 'h' or recent)
else
  redis.call('HDEL', KEYS[1], 'recent')
end
-- An outage is known for as long as the history: workers that were away for days report its end.
local isDeleted = redis.call('HEXISTS', KEYS[3], ARGV[10]) == 0
redis.call('PEXPIRE', KEYS[1], isDeleted and ARGV[11] or isFailing and ARGV[7] or ARGV[4])
if not openUntil and not isFailing and retryAfter == 0 then
  return 0
end
local isRetryAfter = retryAfter > 0 and not isFailing
local length = isRetryAfter and retryAfter or math.max(ARGV[2], retryAfter)
local now = clock()
local nowMs, untilMs = digits(now), digits(now + length)
redis.call('HDEL', KEYS[1], 'probe', 'probedAt', 'probeUntil', 'recoveredAt', 'paused')
redis.call('HSET', KEYS[1], 'openedAt', nowMs, 'openUntil', untilMs)
if isRetryAfter then
  redis.call('HSET', KEYS[1], 'paused', '1')
end
if isFailing and not opening then
  -- Written once per outage, so that a repeated notice is identical.
  redis.call('HDEL', KEYS[1], 'told')
  opening = string.format('%s %d %s %s', nowMs, failures, untilMs, ARGV[5])
  redis.call('HSET', KEYS[1], 'opening', opening)
end
if not isDeleted then
  -- A failed probe extends the period of its outage.
  redis.call('ZADD', KEYS[2], untilMs, string.match(opening or '', '^%d+') or nowMs)
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[6])
  redis.call('PEXPIRE', KEYS[2], ARGV[7])
end
return 1
