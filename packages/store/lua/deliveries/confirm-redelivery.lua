-- Records that the run of begin-redelivery.lua has been published, unless a worker has already settled one of its slots.
-- Ends the lease of its sender.
-- KEYS    1 record   2 sender
-- ARGV    1 run   2 view, JSON   3 how long the record is kept at least, ms   4 the sender, '' if it is not known
if redis.call('GET', KEYS[2]) == ARGV[4] then
  redis.call('DEL', KEYS[2])
end
local stored = redis.call('GET', KEYS[1])
local run, state, attempt, attempts = string.match(stored or '', '^(%d+) %-?%d+ (%a+) (%d+)[^\n]*\n[^\n]*(.*)$')
local isBegun = state == 'unsent' and run == ARGV[1] or state == 'waiting' and run + 1 == tonumber(ARGV[1])
if not isBegun then
  -- The record is gone, or has moved on.
  return
end
redis.call('SET', KEYS[1], ARGV[1] .. ' -1 pending ' .. attempt .. '\n' .. ARGV[2] .. attempts, 'KEEPTTL')
redis.call('PEXPIRE', KEYS[1], ARGV[3], 'GT')
