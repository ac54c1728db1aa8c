-- Prolongs leases that have not ended, each under a new name.
-- KEYS    1 leased
-- ARGV    1 length in seconds   then delivery and lease of each
-- result  the new lease of each, '' for one that was lost
local now = clock()
local prolonged = {}
for i = 2, #ARGV, 2 do
  local lease = redis.call('ZSCORE', KEYS[1], ARGV[i])
  local renewed = ''
  if lease == ARGV[i + 1] and math.floor(lease / 1000) > now then
    renewed = string.format('%.0f%03d', now + ARGV[1] * 1000, ARGV[1])
    if renewed == lease then
      renewed = string.format('%.0f%03d', now + ARGV[1] * 1000 + 1, ARGV[1])
    end
    redis.call('ZADD', KEYS[1], renewed, ARGV[i])
  end
  prolonged[#prolonged + 1] = renewed
end
return prolonged
