-- Ends a lease, if this process still has it.
-- KEYS    1 the lease
-- ARGV    1 this process
-- result  1 ended, 0 another process has it, or none
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
