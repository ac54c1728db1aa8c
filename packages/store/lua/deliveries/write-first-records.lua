-- Writes the records of deliveries that have none. Repeating it changes nothing.
-- KEYS    the records
-- ARGV    1 retention in ms, then each record
-- result  the keys that already had a record, which stays
local present = {}
for at, key in ipairs(KEYS) do
  if not redis.call('SET', key, ARGV[at + 1], 'PX', ARGV[1], 'NX') then
    present[#present + 1] = key
  end
end
return present
