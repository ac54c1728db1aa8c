-- Leases the held deliveries that have been due for longest to one client.
-- KEYS    1 held   2 leased   3 held-extras
-- ARGV    1 most deliveries   2 length of the lease in seconds   3 most units of them together; the first one may have more
-- result  delivery and lease of each
local most, units = tonumber(ARGV[1]), tonumber(ARGV[3])
if most > units or sumOfExtras(KEYS[3]) > 0 then
  local due = redis.call('ZRANGE', KEYS[1], '-inf', digits(clock()), 'BYSCORE', 'LIMIT', 0, most)
  most = 0
  for i, delivery in ipairs(due) do
    units = units - unitsOf(KEYS[3], delivery)
    if units < 0 and i > 1 then
      break
    end
    most = i
  end
end
local reply = {}
leaseDue(KEYS[1], KEYS[2], most, ARGV[2], reply)
return reply
