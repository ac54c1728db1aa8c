-- Records that the run of begin-redelivery.lua has been published, unless a worker has already settled one of its slots.
-- Ends the lease of its sender.
-- KEYS    1 record   2 sender
-- ARGV    1 run   2 view, JSON   3 how long the record is kept at least, ms   4 the sender, '' if it is not known
if redis.call('GET', KEYS[2]) == ARGV[4] then
  redis.call('DEL', KEYS[2])
end
local line, attempts = splitRecord(redis.call('GET', KEYS[1]) or '')
local ledger = parseLedger(line)
local isBegun = ledger and (ledger.state == 'unsent' or ledger.state == 'waiting') and ledger.ended + 1 == tonumber(ARGV[1])
if not isBegun then
  -- The record is gone, or has moved on.
  return
end
redis.call('SET', KEYS[1], newLedger(ARGV[1], 'pending', ledger.attempt) .. '\n' .. ARGV[2] .. attempts, 'KEEPTTL')
redis.call('PEXPIRE', KEYS[1], ARGV[3], 'GT')
