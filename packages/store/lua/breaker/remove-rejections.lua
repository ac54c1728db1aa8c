-- Removes the noted rejections, unless one was noted since they were read.
-- KEYS    1 rejected
-- ARGV    1 as read
-- result  1 removed, else 0
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
