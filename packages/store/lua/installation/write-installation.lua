#!lua flags=allow-oom
-- Writes a field of the installation. Allowed while Redis is over `maxmemory`, because the api must be able to start and
-- drain a full Redis, and an operator must be able to decide. The hash has only a few fields.
-- KEYS    1 the installation
-- ARGV    1 field   2 value   3 'keep' to leave a field that is present, '' to replace it
-- result  1 written, 0 kept
if ARGV[3] == 'keep' then
  return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
