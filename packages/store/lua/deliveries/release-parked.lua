-- Deletes the body of a parked delivery beyond the limit. A dropped delivery keeps its record for a while, so that a late
-- duplicate of its message still finds it settled.
-- KEYS    1 record   2 body
-- ARGV    1 the run that was parked   2 how long the record is still kept, in ms; '' for no change
-- result  1 released; 0 this run is parked no longer; 2 it is not parked yet, or has no record any more. Then nothing was changed
local ledger = parseLedger(redis.call('GETRANGE', KEYS[1], 0, 95)) or { ended = 0 }
local state, ended, parked = ledger.state, ledger.ended, tonumber(ARGV[1])
if ended < parked or ended == parked and (state == 'waiting' or state == 'pending') then
  return 2
elseif ended > parked or not (state == 'parked' or state == 'unsent') then
  return 0
end
redis.call('UNLINK', KEYS[2])
if ARGV[2] ~= '' then
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'LT')
end
return 1
