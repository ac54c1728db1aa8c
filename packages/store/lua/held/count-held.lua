-- Counts the held deliveries of a subscription. Notes when they come near their limit, and forgets that once they are far below.
-- KEYS    1 held   2 leased   3 held-limit
-- ARGV    1 limit   2 more than so many are near it   3 share of the noted limit below which it is forgotten
--         4 lifetime of the note in ms
-- result  how many are held
local count = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2])
local noted = redis.call('HGET', KEYS[3], 'crossedLimit')
if noted and count < noted * ARGV[3] then
  redis.call('DEL', KEYS[3])
  noted = false
end
if not noted and count > tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[3], 'crossedAt', digits(clock()), 'crossedLimit', ARGV[1], 'crossedCount', count)
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end
return count
