-- Tells whether an endpoint may be contacted now. Changes nothing.
-- KEYS    1 breaker
-- result  'closed', 'open' (in its cool-down) or 'probing' (the cool-down is over, and one probe decides);
--         failures in a row; when the cool-down ends, ms since 1970, 0 if there is none
local failures, openUntil = unpack(redis.call('HMGET', KEYS[1], 'failures', 'openUntil'))
if not openUntil then
  return { 'closed', tonumber(failures or 0), '0' }
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return { tonumber(openUntil) > now and 'open' or 'probing', tonumber(failures), openUntil }
