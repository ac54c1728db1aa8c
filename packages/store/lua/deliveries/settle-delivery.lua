-- Settles one slot of one run of a delivery for one message, unless the ledger has settled the message already. Repeating it
-- changes nothing. The rules are those of `isSettledBy` (delivery-record.ts), with two exceptions:
-- - A success counts even if the delivery was parked meanwhile, so that it is not sent again.
-- - A success counts also for a copy that another copy has outrun.
-- The message of a held delivery (held-message.ts) is written and deleted with the ledger, so it is the one that the ledger
-- names.
-- KEYS    1 record   2 body   3 ledger that outlives the record   4 message of a held delivery
-- ARGV    of the message: 1 run   2 slot   3 how often it was postponed   4 token, '' for none
--         5 the ledger line afterwards, '<run> <slot> <state>'   6 view, JSON   7 attempt, JSON, '' for none
--         8 retention in ms   9, 10 how long the ledger of an ended run is kept at least, in ms, without and with an earlier
--         record; 0: as long as the record   11 body to keep, '' for none   12 message of a held delivery, '' for none
-- result  the ledger line afterwards; 1 if the delivery was parked and no longer is, else 0; 1 if it was written, else absent
local run, slot, postponed, token = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local state = string.match(ARGV[5], '%a+')
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
    local isFirstWithAttempt = string.find(view, '"attempt":0,', 1, true)
      and not string.find(ARGV[6], '"attempt":0,', 1, true)
    local nextToken, nextPostponed
    if notedState == 'waiting' and notedSlot == slot - 1 then
      nextToken, nextPostponed = string.match(view, '^{"next":{"token":"([%w_-]+)","postponed":(%d+)}')
      nextPostponed = tonumber(nextPostponed)
    end
    local isOutrun = notedSlot >= slot
      or nextToken
        and (nextPostponed > postponed or (nextPostponed == postponed and (token ~= '' or slot == 0) and token ~= nextToken))
    if state == 'acknowledged' and notedState == 'parked' then
      unparked = 1
    elseif final[notedState] then
      return { ledger, 0 }
    elseif state ~= 'acknowledged' and not isFirstWithAttempt and (notedState == 'withdrawn' or notedState == 'expired' or isOutrun) then
      return { ledger, 0 }
    end
  end
  attempts = rest
end

if ARGV[7] ~= '' then
  attempts = attempts .. '\n' .. ARGV[7]
end
while #attempts > attemptBytes do
  attempts = string.sub(attempts, string.find(attempts, '\n', 2, true) or #attempts + 1)
end

redis.call('SET', KEYS[1], ARGV[5] .. '\n' .. ARGV[6] .. attempts, 'PX', ARGV[8])
local ledgerMs = stored and ARGV[10] or ARGV[9]
if ledgerMs ~= '0' then
  redis.call('SET', KEYS[3], ARGV[5], 'PX', ledgerMs)
end
if ARGV[11] ~= '' then
  redis.call('SET', KEYS[2], ARGV[11], 'PX', ARGV[8])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[8])
end
if ARGV[12] ~= '' then
  redis.call('SET', KEYS[4], ARGV[12], 'PX', ARGV[8])
else
  redis.call('DEL', KEYS[4])
end
return { ARGV[5], unparked, 1 }
