-- Writes the records of deliveries that have none. Repeating it changes nothing.
-- KEYS    the records
-- ARGV    per key: retention in ms, record
-- result  the keys that already had a record, which stays
local present = {}
for at, key in ipairs(KEYS) do
  if not redis.call('SET', key, ARGV[2 * at], 'PX', ARGV[2 * at - 1], 'NX') then
    present[#present + 1] = key
  end
end
return present
