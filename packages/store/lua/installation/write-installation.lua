#!lua flags=allow-oom
-- Creates the installation unless there is one, or replaces an operator's decision. Allowed while Redis is over `maxmemory`,
-- because the api must be able to start and drain a full Redis, and an operator must be able to decide. The hash has only a
-- few fields.
-- KEYS    1 the installation
-- ARGV    1 field: 'own', or the id of another installation   2 value: the id to create, or the decision
if ARGV[1] == 'own' then
  redis.call('HSETNX', KEYS[1], 'own', ARGV[2] .. ' ' .. digits(clock()))
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
