-- Lists a held delivery, and claims those that have been due for longest beyond the limit, to be parked. It ends a lease, whose
-- client then learns that it lost the delivery. Entries whose messages have expired are removed. What is claimed is not held any
-- more: no other worker claims it, or others in its place.
-- KEYS    1 held   2 leased   3 parking   4 held-extras
-- ARGV    1 units of those that are kept   2 most to claim   3 lease of the claimed ones in ms   4 lifetime of the lists in ms
--         to list a delivery: 5 delivery   6 when it is due, ms   7 '1': only if it is in none of the lists
--         8 units that it takes beyond one
-- result  1 if all lists were empty, else 0   the units of all that are held, before the claims, and after   the lease   the
--         claimed deliveries
local isFirst = redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3]) == 0
local function isListed()
  for i = 1, 3 do
    if redis.call('ZSCORE', KEYS[i], ARGV[5]) then
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
  removeUpTo(KEYS[1], KEYS[4], digits(clock() - ARGV[4]))
  setExtra(KEYS[4], ARGV[5], tonumber(ARGV[8]))
  redis.call('PEXPIRE', KEYS[4], ARGV[4])
  redis.call('ZADD', KEYS[1], due, ARGV[5])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
local size = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2]) + sumOfExtras(KEYS[4])
local lease = digits(clock() + ARGV[3])
local reply = { isFirst and 1 or 0, size, size, lease }
local excess = size - ARGV[1]
if excess > 0 then
  for _, delivery in ipairs(redis.call('ZRANGE', KEYS[1], 0, math.min(excess, ARGV[2]) - 1)) do
    if excess > 0 then
      local units = unitsOf(KEYS[4], delivery)
      excess, reply[3] = excess - units, reply[3] - units
      redis.call('ZREM', KEYS[1], delivery)
      setExtra(KEYS[4], delivery, 0)
      redis.call('ZADD', KEYS[3], lease, delivery)
      reply[#reply + 1] = delivery
    end
  end
  redis.call('PEXPIRE', KEYS[3], ARGV[4])
end
return reply
