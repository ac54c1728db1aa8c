-- Ends a claim of a request that has an idempotency key, with its answer or without one, unless the claim was taken over.
-- Without an answer, the next request need not wait for the end of the lease.
-- KEYS    1 the request
-- ARGV    1 this claim   with an answer: 2 the answer   3 retention in ms
-- result  1 ended, 0 the claim was taken over
if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then
  return 0
end
if ARGV[2] then
  redis.call('HSET', KEYS[1], 'answer', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
redis.call('HDEL', KEYS[1], 'claim', 'leaseEnd')
return 1
