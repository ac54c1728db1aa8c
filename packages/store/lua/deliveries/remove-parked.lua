-- Removes a delivery from the list of its subscription's parked ones.
-- KEYS    1 parked   2 parked-extras
-- ARGV    1 '<delivery>:<run>'
redis.call('ZREM', KEYS[1], ARGV[1])
setExtra(KEYS[2], ARGV[1], 0)
