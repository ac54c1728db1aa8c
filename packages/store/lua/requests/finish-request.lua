-- Stores the answer to a request that has an idempotency key, unless the claim was taken over.
-- KEYS    1 the request
-- ARGV    1 this claim   2 the answer   3 retention in ms
-- result  1 stored, 0 the claim was taken over
if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
redis.call('HDEL', KEYS[1], 'claim', 'leaseEnd')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
