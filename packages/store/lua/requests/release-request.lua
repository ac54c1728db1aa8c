-- Gives up a claim without an answer, so that the next request need not wait for the end of its lease.
-- KEYS    1 the request
-- ARGV    1 this claim
-- result  1 released, 0 the claim was taken over
if redis.call('HGET', KEYS[1], 'claim') ~= ARGV[1] then
  return 0
end
redis.call('HDEL', KEYS[1], 'claim', 'leaseEnd')
return 1
