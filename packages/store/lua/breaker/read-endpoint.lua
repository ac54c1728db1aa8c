-- Reads the state of an endpoint's breaker and, if asked for, its subscription. Changes nothing.
-- KEYS    1 breaker   2 subscriptions   3 the tenant's listening key   4 rejected
-- ARGV    1 subscription, '' to leave it out
-- result  'closed', 'open' (in its cool-down) or 'probing' (the cool-down is over); failures in a row; end of the
--         cool-down in ms since 1970, 0 for none; the subscription as JSON, '' for none; 1 if a client reads the tenant's
--         live stream, else 0; the noted rejections, '' for none or if the subscription does not recover them
local subscription = ''
if ARGV[1] ~= '' then
  subscription = redis.call('HGET', KEYS[2], ARGV[1]) or ''
end
local listened = redis.call('EXISTS', KEYS[3])
local rejected = ''
if string.find(subscription, '"recoverRejected":true', 1, true) then
  rejected = redis.call('GET', KEYS[4]) or ''
end
local failures, openedAt, openUntil = unpack(redis.call('HMGET', KEYS[1], 'failures', 'openedAt', 'openUntil'))
if not openUntil then
  return { 'closed', tonumber(failures or 0), '0', subscription, listened, rejected }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A cool-down that begins in the future was written by a Redis whose clock was ahead: it is over (breaker-store.ts).
local isOpen = tonumber(openedAt or 0) <= now and now < tonumber(openUntil)
return { isOpen and 'open' or 'probing', tonumber(failures), openUntil, subscription, listened, rejected }
