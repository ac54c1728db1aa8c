-- Counts the parked deliveries of a subscription. Changes nothing.
-- KEYS    1 parked   2 parked-limit
-- result  how many are parked; how many of them have no body; how many were dropped; the place in the list (µs) up to
--         which bodies were released
local bodiesUntil, dropped = unpack(redis.call('HMGET', KEYS[2], 'bodiesUntil', 'dropped'))
bodiesUntil = bodiesUntil or '0'
local withoutBody = redis.call('ZCOUNT', KEYS[1], '-inf', bodiesUntil)
return { redis.call('ZCARD', KEYS[1]), withoutBody, tonumber(dropped or 0), bodiesUntil }
