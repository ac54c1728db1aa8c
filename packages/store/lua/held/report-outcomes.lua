-- Notes what a client reports under leases that have not ended, and prolongs them, each under a new name, so that no other
-- client receives the deliveries before a worker has recorded it.
-- KEYS    1 leased   2 reported
-- ARGV    1 length in seconds   then delivery, lease and report of each
-- result  the new lease of each, '' for one that was lost
local now = clock()
local prolonged = {}
for i = 2, #ARGV, 3 do
  local lease = redis.call('ZSCORE', KEYS[1], ARGV[i])
  local renewed = ''
  if lease == ARGV[i + 1] and math.floor(lease / 1000) > now then
    renewed = leaseFrom(now, ARGV[1])
    if renewed == lease then
      renewed = leaseFrom(now + 1, ARGV[1])
    end
    redis.call('ZADD', KEYS[1], renewed, ARGV[i])
    redis.call('HSET', KEYS[2], ARGV[i], renewed .. ' ' .. ARGV[i + 2])
  end
  prolonged[#prolonged + 1] = renewed
end
redis.call('PEXPIRE', KEYS[2], digits(redis.call('PTTL', KEYS[1])))
return prolonged
