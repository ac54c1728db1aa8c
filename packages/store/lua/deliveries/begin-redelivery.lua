-- Begins the next run of a parked delivery; begun again as long as nobody has noted that the run was published: by the
-- same sender at any time, by another one when the first may be presumed dead.
-- KEYS    1 record   2 body   3 sender
-- ARGV    1 the run that was parked, '' for whichever   2 who wants to send it   3 how long nobody else may, in ms
-- result  the record; '' if it is not parked (by that run); 'busy' if somebody else is sending it; 'without-body' if its
--         body is no longer kept; nil if nothing is known of it
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
