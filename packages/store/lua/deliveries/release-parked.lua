-- Deletes the body of a parked delivery beyond the limit. A dropped delivery keeps its record for a while, so that a late
-- copy of its message still finds it settled.
-- KEYS    1 record   2 body
-- ARGV    1 the run that was parked   2 how long the record is still kept, in ms; '' for no change
-- result  1 released; 0 this run is not parked (any more), so nothing was changed
local run, state = string.match(redis.call('GETRANGE', KEYS[1], 0, 47), '^(%d+) %-?%d+ (%a+)')
local parkedRun = tonumber(run)
if state == 'unsent' then
  parkedRun = parkedRun - 1
elseif state ~= 'parked' then
  return 0
end
if parkedRun ~= tonumber(ARGV[1]) then
  return 0
end
redis.call('UNLINK', KEYS[2])
if ARGV[2] ~= '' then
  redis.call('PEXPIRE', KEYS[1], ARGV[2], 'LT')
end
return 1
