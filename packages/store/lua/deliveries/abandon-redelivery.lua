-- Gives up the right to send a redelivery, unless another sender holds it by now.
-- KEYS    1 sender
-- ARGV    1 this sender
-- result  1 given up, 0 it has lapsed or another sender holds it
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
