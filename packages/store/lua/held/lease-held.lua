-- Leases the held deliveries that have been due for longest to one client.
-- KEYS    1 held   2 leased
-- ARGV    1 most deliveries   2 length of the lease in seconds
-- result  delivery and lease of each
local reply = {}
leaseDue(KEYS[1], KEYS[2], tonumber(ARGV[1]), ARGV[2], reply)
return reply
