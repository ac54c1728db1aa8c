-- Deletes a string, unless its value is another one by now.
-- KEYS    1 the string
-- ARGV    1 its value
-- result  1 deleted, 0 it has another value or is gone
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
