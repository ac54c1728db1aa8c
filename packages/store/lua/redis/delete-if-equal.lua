-- Deletes a string, unless its value is another one by now.
-- KEYS    1 the string
-- ARGV    1 its value
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
