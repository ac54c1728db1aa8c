-- Tells whether an endpoint may be contacted now, and what is stored of its subscription. Changes nothing.
-- KEYS    1 breaker   2 subscriptions
-- ARGV    1 subscription, '' if it is not asked for
-- result  'closed', 'open' (in its cool-down) or 'probing' (the cool-down is over, and one probe decides);
--         failures in a row; when the cool-down ends, ms since 1970, 0 if there is none; the subscription, '' for none
local subscription = ''
if ARGV[1] ~= '' then
  subscription = redis.call('HGET', KEYS[2], ARGV[1]) or ''
end
local failures, openUntil = unpack(redis.call('HMGET', KEYS[1], 'failures', 'openUntil'))
if not openUntil then
  return { 'closed', tonumber(failures or 0), '0', subscription }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { tonumber(openUntil) > now and 'open' or 'probing', tonumber(failures), openUntil, subscription }
