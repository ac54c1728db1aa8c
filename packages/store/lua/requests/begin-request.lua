-- Claims a request that has an idempotency key, unless it was answered or is being executed.
-- KEYS    1 the request
-- ARGV    1 fingerprint of its body   2 this claim   3 a seed, for the first claim   4 lease in ms   5 retention in ms
-- result  'new' and the seed, 'replay' and the answer, 'mismatch' (another body), or 'busy' (another claim holds the lease)
local fingerprint, answer, seed, leaseEnd = unpack(redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'seed', 'leaseEnd'))
if fingerprint and fingerprint ~= ARGV[1] then
  return { 'mismatch' }
end
if answer then
  return { 'replay', answer }
end
local now = clock()
if leaseEnd and tonumber(leaseEnd) > now then
  return { 'busy' }
end
-- The seed of a claim whose process died is reused, so that the next claim repeats the same command, not another one.
seed = seed or ARGV[3]
leaseEnd = digits(now + ARGV[4])
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'seed', seed, 'claim', ARGV[2], 'leaseEnd', leaseEnd)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 'new', seed }
