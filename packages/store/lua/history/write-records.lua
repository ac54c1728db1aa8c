-- Stores the records of events.
-- KEYS    the records
-- ARGV    for each record: its JSON, its lifetime in ms
for i, record in ipairs(KEYS) do
  redis.call('SET', record, ARGV[2 * i - 1], 'PX', ARGV[2 * i])
end
