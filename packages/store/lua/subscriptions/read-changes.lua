-- Reads what has changed in a tenant's subscriptions since a revision, all at one moment. The changes form a chain: each
-- names the revision before it.
-- KEYS    1 the tenant's subscriptions   2 the tenant's revision   3 its latest changes
-- ARGV    1 the revision since which
-- result  the present revision, then id and JSON ('' for removed) of each subscription that has changed; nil if the list
--         does not reach back to the revision
local PAGE = 100
local expected = redis.call('GET', KEYS[2])
if not expected then
  return false
end
local result = { expected }
local seen = {}
local last = -1
while expected ~= ARGV[1] do
  local changes = redis.call('LRANGE', KEYS[3], last - PAGE + 1, last)
  if #changes == 0 then
    return false
  end
  for i = #changes, 1, -1 do
    local before, after, id = string.match(changes[i], '^(%S*) (%S+) (%S+)$')
    if after ~= expected then
      return false
    end
    if not seen[id] then
      seen[id] = true
      result[#result + 1] = id
      result[#result + 1] = redis.call('HGET', KEYS[1], id) or ''
    end
    expected = before
    if expected == ARGV[1] then
      break
    end
  end
  last = last - PAGE
end
return result
