-- Records the result of a slot, if the ledger line is the expected one (`write` in ledger-store.ts). The message of a held
-- delivery (held-message.ts) is written and deleted with the ledger, so it is the one that the ledger names.
-- KEYS    1 record   2 body   3 ledger that outlives the record   4 message of a held delivery
-- ARGV    1 the expected ledger line, '' for no record   2 the line afterwards   3 view, JSON   4 attempt, JSON, '' for none; of a lapse, after a space
--         5 retention in ms   6 how long the ledger is kept at least, in ms; 0: as long as the record
--         7 body to keep, '' for none   8 message of a held delivery, '' for none
-- result  nil if it was written, else the ledger line, '' for no record
-- The eight attempts of a run take 1 KiB, 3 KiB with the endpoint's answers, and at most 5 KiB (measured, for answers full
-- of quotes, which JSON escapes). So at least three runs are kept; older attempts are dropped (tenant-sizes.ts counts on it).
local attemptBytes = 16384
-- A lapse uses up no slot, so a delivery can have any number of them. Of more than so many, the oldest is dropped.
local keptLapses = 5

local line, attempts = splitRecord(redis.call('GET', KEYS[1]) or '')
if line ~= ARGV[1] then
  return line
end
if ARGV[4] ~= '' then
  attempts = attempts .. '\n' .. ARGV[4]
end
if select(2, string.gsub(attempts, '\n ', '')) > keptLapses then
  local start = string.find(attempts, '\n ', 1, true)
  local rest = string.find(attempts, '\n', start + 1, true)
  attempts = string.sub(attempts, 1, start - 1) .. string.sub(attempts, rest)
end
while #attempts > attemptBytes do
  attempts = string.sub(attempts, string.find(attempts, '\n', 2, true) or #attempts + 1)
end

redis.call('SET', KEYS[1], ARGV[2] .. '\n' .. ARGV[3] .. attempts, 'PX', ARGV[5])
if ARGV[6] ~= '0' then
  redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[6])
end
if ARGV[7] ~= '' then
  redis.call('SET', KEYS[2], ARGV[7], 'PX', ARGV[5])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
if ARGV[8] ~= '' then
  redis.call('SET', KEYS[4], ARGV[8], 'PX', ARGV[5])
else
  redis.call('DEL', KEYS[4])
end
