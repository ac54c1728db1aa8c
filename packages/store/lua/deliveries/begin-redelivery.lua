-- Begins the next run of a parked delivery. Until the run is noted as published, it can be begun again: by the same sender
-- at any time, by another one when the sender's lease is over.
-- KEYS    1 record   2 body   3 sender
-- ARGV    1 the run that must have been parked, '' for any   2 this sender   3 the sender's lease in ms
-- result  the record; '' if it is not parked, or another run is; 'busy' if another sender holds the lease; 'without-body'
--         if its body was released; nil if there is no record
local stored = redis.call('GET', KEYS[1])
if not stored then
  return false
end
local run, state, rest = string.match(stored, '^(%d+) %-?%d+ (%a+)(\n.*)$')
if state ~= 'parked' and state ~= 'unsent' then
  return ''
end
local parkedRun = state == 'unsent' and run - 1 or tonumber(run)
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= parkedRun then
  return ''
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  return 'without-body'
end
if state == 'unsent' then
  local sender = redis.call('GET', KEYS[3])
  if sender and sender ~= ARGV[2] then
    return 'busy'
  end
end
redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
if state == 'parked' then
  stored = string.format('%d -1 unsent', run + 1) .. rest
  redis.call('SET', KEYS[1], stored, 'KEEPTTL')
end
return stored
