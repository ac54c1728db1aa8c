-- Removes entries from one partition of the outbox because the broker has confirmed them.
-- KEYS    1 outbox
-- ARGV    1 group   2… entry ids
redis.call('XACK', KEYS[1], unpack(ARGV))
redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
