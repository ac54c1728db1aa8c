-- Begins the next run of a delivery, or the first run of a new one. Until the run is noted as published, it can be begun
-- again: by the same sender at any time, by another one when the sender's lease is over. A delivery that waits keeps its
-- record until then: its next attempt is still in the broker, and must be made if the sender dies.
-- KEYS    1 record   2 body   3 sender   4 the run that this sender's request began from
-- ARGV    1 the run that must have ended, 0 for a new delivery, '' for any   2 this sender   3 the sender's lease in ms
--         4 which deliveries: 'parked', 'any' that is not due now, or only a 'new' one   5 '1' if the sender has the body
--         6 the record of a new delivery, '' for none   7 how long that record is kept until the run is published, ms
--         8 how long KEYS[4] is kept, ms; '' if the sender repeats no request
-- result  the record; '' if it is in another state, or another run has ended; 'busy' if another sender holds the lease;
--         'without-body' if there is no body; nil if there is no record
local wanted = ARGV[1]
if ARGV[8] ~= '' then
  wanted = redis.call('GET', KEYS[4]) or wanted
end
local function begin(ended)
  redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
  if ARGV[8] ~= '' then
    redis.call('SET', KEYS[4], ended, 'PX', ARGV[8])
  end
end
local stored = redis.call('GET', KEYS[1])
if not stored then
  if ARGV[6] == '' or (wanted ~= '' and wanted ~= '0') then
    return false
  end
  redis.call('SET', KEYS[1], ARGV[6], 'PX', ARGV[7])
  begin(0)
  return ARGV[6]
end
local ledger = parseLedger(stored)
local state, ended = ledger.state, ledger.ended
local fits = {
  parked = state == 'parked' or state == 'unsent',
  any = state ~= 'pending',
  new = state == 'unsent' and ended == 0,
}
if not fits[ARGV[4]] or (wanted ~= '' and tonumber(wanted) ~= ended) then
  return ''
end
if ARGV[5] ~= '1' and redis.call('EXISTS', KEYS[2]) == 0 then
  return 'without-body'
end
if state == 'unsent' or state == 'waiting' then
  local sender = redis.call('GET', KEYS[3])
  if sender and sender ~= ARGV[2] then
    return 'busy'
  end
end
begin(ended)
if state ~= 'unsent' then
  stored = newLedger(ledger.run + 1, 'unsent', ledger.attempt) .. string.match(stored, '\n.*')
  if state ~= 'waiting' then
    redis.call('SET', KEYS[1], stored, 'KEEPTTL')
  end
end
return stored
