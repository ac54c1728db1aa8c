-- Settles one slot of one run of a delivery, once: settling the same slot again changes nothing. Two exceptions:
-- - A success counts even if the delivery was parked meanwhile, so that it is not sent again.
-- - An attempt counts if the record has none. The record then comes from a copy of the message that made no attempt and was
--   withdrawn, or used up slots in a cool-down. That does not end the schedule of the copy that was sent.
-- KEYS    1 record   2 body
-- ARGV    1 run   2 slot   3 state   4 view, JSON   5 attempt, JSON, '' for none   6 retention in ms   7 body to keep, if any
-- result  the ledger afterwards, '<run> <slot> <state>'; 1 if the delivery was parked and no longer is, else 0
local run, slot, state = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local final = { acknowledged = true, parked = true }
-- The eight attempts of a run take 1 KiB, 3 KiB with the endpoint's answers, and at most 5 KiB (measured, for answers full
-- of quotes, which JSON escapes). So at least 25 runs are kept; older attempts are dropped.
local attemptBytes = 131072

local attempts = ''
local unparked = 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local ledger, notedRun, notedSlot, notedState, view, rest =
    string.match(stored, '^((%d+) (%-?%d+) (%a+))\n([^\n]*)(.*)$')
  if not ledger then
    return redis.error_reply('UNREADABLE ' .. KEYS[1] .. ' holds no record of a delivery')
  end
  notedRun, notedSlot = tonumber(notedRun), tonumber(notedSlot)
  if notedRun > run then
    return { ledger, 0 }
  end
  if notedRun == run then
    local isFirstAttempt = string.find(view, '"attempt":0,', 1, true) and not string.find(ARGV[4], '"attempt":0,', 1, true)
    if state == 'acknowledged' and notedState == 'parked' then
      unparked = 1
    elseif final[notedState] then
      return { ledger, 0 }
    elseif not isFirstAttempt and (notedState == 'withdrawn' or (notedSlot >= slot and state ~= 'acknowledged')) then
      return { ledger, 0 }
    end
  end
  attempts = rest
end

if ARGV[5] ~= '' then
  attempts = attempts .. '\n' .. ARGV[5]
end
while #attempts > attemptBytes do
  attempts = string.sub(attempts, string.find(attempts, '\n', 2, true) or #attempts + 1)
end

local ledger = string.format('%d %d %s', run, slot, state)
redis.call('SET', KEYS[1], ledger .. '\n' .. ARGV[4] .. attempts, 'PX', ARGV[6])
if ARGV[7] then
  redis.call('SET', KEYS[2], ARGV[7], 'PX', ARGV[6])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
return { ledger, unparked }
