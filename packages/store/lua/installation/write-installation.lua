#!lua flags=allow-oom
-- Creates the installation, or replaces an operator's decision. Allowed while Redis is over `maxmemory`, because the api must
-- be able to start and drain a full Redis, and an operator must be able to decide. The hash has only a few fields.
-- KEYS    1 the installation
-- ARGV    1 field: 'own', or the id of another installation   2 value: the id to create, or the decision
-- result  1 written; 0 there is an installation already, and it stays
if ARGV[1] == 'own' then
  local time = redis.call('TIME')
  return redis.call('HSETNX', KEYS[1], 'own', string.format('%s %.0f', ARGV[2], time[1] * 1000 + math.floor(time[2] / 1000)))
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
