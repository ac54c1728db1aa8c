-- Records when an endpoint last acknowledged a delivery and when an attempt last failed. Older times change nothing. The
-- first failure that is recorded after the last success is when the endpoint began to fail. Nothing is recorded of a deleted
-- subscription.
-- KEYS    1 contact   2 the tenant's subscriptions
-- ARGV    1 acknowledged at, ms since 1970, '' for unknown   2 failed at, likewise   3 result of the failed attempt
--         4 retention in ms   5 subscription
if redis.call('HEXISTS', KEYS[2], ARGV[5]) == 0 then
  return
end
local function isNewer(field, value)
  return value ~= '' and tonumber(value) > tonumber(redis.call('HGET', KEYS[1], field) or '-1')
end
if isNewer('successAt', ARGV[1]) then
  redis.call('HSET', KEYS[1], 'successAt', ARGV[1])
end
if isNewer('failureAt', ARGV[2]) then
  redis.call('HSET', KEYS[1], 'failureAt', ARGV[2], 'failure', ARGV[3])
end
local succeeded, failed, failing = unpack(redis.call('HMGET', KEYS[1], 'successAt', 'failureAt', 'failingSince'))
if failed and tonumber(failed) > tonumber(succeeded or '-1') then
  if not failing or tonumber(failing) < tonumber(succeeded or '-1') then
    redis.call('HSET', KEYS[1], 'failingSince', failed)
  end
elseif failing then
  redis.call('HDEL', KEYS[1], 'failingSince')
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
