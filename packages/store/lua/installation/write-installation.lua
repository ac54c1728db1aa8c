#!lua flags=allow-oom
-- Writes a field of the installation. Runs while Redis is over `maxmemory`: the api must be able to start, because it drains
-- a full Redis, and an operator must be able to decide. There are a few such fields in all.
-- KEYS    1 the installation
-- ARGV    1 field   2 value   3 'keep' to leave a field that is present, '' to replace it
-- result  1 written, 0 kept
if ARGV[3] == 'keep' then
  return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
