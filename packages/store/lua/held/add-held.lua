-- Lists a held delivery, and claims those that have been due for longest beyond the limit, to be parked. It ends a lease, whose
-- client then learns that it lost the delivery. Entries whose messages have expired are removed. What is claimed is not held any
-- more: no other worker claims it, or others in its place.
-- KEYS    1 held   2 leased   3 parking
-- ARGV    1 how many are kept   2 most to claim   3 lease of the claimed ones in ms   4 lifetime of the lists in ms
--         to list a delivery: 5 delivery   6 when it is due, ms   7 '1': only if it is in none of the lists
-- result  1 if all lists were empty, else 0   how many are held, before the claims   the lease   the claimed deliveries
local isFirst = redis.call('EXISTS', unpack(KEYS)) == 0
local function isListed()
  for _, key in ipairs(KEYS) do
    if redis.call('ZSCORE', key, ARGV[5]) then
      return true
    end
  end
end
if ARGV[5] and not (ARGV[7] == '1' and isListed()) then
  local due = ARGV[6]
  if redis.call('ZSCORE', KEYS[1], ARGV[5]) == due then
    -- Another score, so that a reader of the entry before does not remove this one.
    due = digits(due + 1)
  end
  redis.call('ZREM', KEYS[2], ARGV[5])
  redis.call('ZREM', KEYS[3], ARGV[5])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', digits(clock() - ARGV[4]))
  redis.call('ZADD', KEYS[1], due, ARGV[5])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
local size = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2])
local lease = digits(clock() + ARGV[3])
local reply = { isFirst and 1 or 0, size, lease }
local excess = math.min(size - ARGV[1], ARGV[2])
if excess > 0 then
  for _, delivery in ipairs(redis.call('ZRANGE', KEYS[1], 0, excess - 1)) do
    redis.call('ZREM', KEYS[1], delivery)
    redis.call('ZADD', KEYS[3], lease, delivery)
    reply[#reply + 1] = delivery
  end
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end
return reply
