-- Removes entries from one partition of the outbox because the broker has confirmed them.
-- KEYS    1 outbox
-- ARGV    1 group   2… entry ids
-- result  how many entries were still there
redis.call('XACK', KEYS[1], unpack(ARGV))
return redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
