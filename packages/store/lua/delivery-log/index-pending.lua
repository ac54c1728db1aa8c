-- Appends deliveries to the pending index, which finds them before they have a record (pending-index.ts).
-- KEYS    1 length of a window   2… one string per bucket
-- ARGV    1 length of a window in ms   2 retention of a string in ms   3… the entries for each string
-- result  how many strings are new
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local new = 0
for i = 2, #KEYS do
  local entries = ARGV[i + 1]
  if redis.call('APPEND', KEYS[i], entries) == #entries then
    redis.call('PEXPIRE', KEYS[i], ARGV[2])
    new = new + 1
  end
end
return new
