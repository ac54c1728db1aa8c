-- Forgets a request that has an idempotency key, unless it is being executed.
-- KEYS    1 the request
-- result  1 forgotten, or not there; 0 it is being executed
local leaseEnd = redis.call('HGET', KEYS[1], 'leaseEnd')
if leaseEnd and tonumber(leaseEnd) > clock() then
  return 0
end
redis.call('UNLINK', KEYS[1])
return 1
