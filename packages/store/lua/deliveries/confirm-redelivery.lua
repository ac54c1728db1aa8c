-- Records that the run of begin-redelivery.lua has been published, unless a worker has already settled one of its slots.
-- KEYS    1 record
-- ARGV    1 run   2 view, JSON   3 how long the record is kept at least, ms
-- result  1 noted, 0 the record is gone or has moved on
local stored = redis.call('GET', KEYS[1])
local run, state, attempts = string.match(stored or '', '^(%d+) %-?%d+ (%a+)\n[^\n]*(.*)$')
if run ~= ARGV[1] or state ~= 'unsent' then
  return 0
end
redis.call('SET', KEYS[1], string.format('%d -1 pending', run) .. '\n' .. ARGV[2] .. attempts, 'KEEPTTL')
redis.call('PEXPIRE', KEYS[1], ARGV[3], 'GT')
return 1
