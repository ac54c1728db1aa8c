#!lua flags=allow-oom
-- Moves the times of a subscription's lists after a failover to a Redis whose clock is behind (prelude.lua).
-- Allowed while Redis is over `maxmemory`, because deliveries that are no longer held leave it.
-- KEYS    1 clock   2 held   3 in flight   4 posted
keepTime(unpack(KEYS))
