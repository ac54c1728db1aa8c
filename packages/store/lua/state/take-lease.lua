-- Takes a lease that is free, or prolongs it for the process that holds it.
-- KEYS    1 the lease
-- ARGV    1 this process   2 length in ms
-- result  1 this process has the lease, 0 another one has it
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
