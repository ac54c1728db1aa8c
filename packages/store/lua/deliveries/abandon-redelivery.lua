-- Deletes a key that holds what its owner wrote, and leaves alone what somebody else has written since.
-- KEYS    1 key
-- ARGV    1 what its owner wrote
-- result  1 deleted, 0 not there or somebody else's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
