-- Adds counts to the statistics of a tenant and of some of its subscriptions (statistics-store.ts).
-- The tenant as a whole is always counted. A subscription is counted if it is a member of KEYS[1], or if there is room for
-- it: below the limit, or in place of a member that was not counted for long.
-- KEYS    1 counted subscriptions   2… two cells' hashes per addition: its minutes, its hours
-- ARGV    1 limit of counted subscriptions   2 now, ms since 1970   3 members not counted since then give way, likewise
--         4 lifetime of minutes in ms   5 lifetime of hours in ms
--         6… per addition: subscription or '' for the tenant, field of the minute, field of the hour, counts (counts.ts)
-- result  subscriptions that gave way
local key, limit, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local gone = {}

local function isCounted(subscription)
  if subscription == '' then
    return true
  end
  local since = redis.call('ZSCORE', key, subscription)
  -- A minute is precise enough, and saves writes.
  if since and tonumber(since) > now - 60000 then
    return true
  end
  if not since then
    if limit == 0 then
      return false
    end
    if redis.call('ZCARD', key) >= limit then
      local oldest = redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. ARGV[3], 'LIMIT', 0, 1)[1]
      if not oldest then
        return false
      end
      redis.call('ZREM', key, oldest)
      gone[#gone + 1] = oldest
    end
  end
  redis.call('ZADD', key, 'GT', ARGV[2], subscription)
  redis.call('PEXPIRE', key, ARGV[5])
  return true
end

local function add(cells, field, counts, lifetime)
  local sums, names = {}, {}
  local stored = redis.call('HGET', cells, field) or ''
  for name, count in string.gmatch(stored .. counts, '(%D+)(%d+)') do
    if not sums[name] then
      names[#names + 1] = name
    end
    sums[name] = (sums[name] or 0) + tonumber(count)
  end
  local parts = {}
  for i, name in ipairs(names) do
    parts[i] = name .. digits(sums[name])
  end
  -- The hash expires as a whole, after its last cell is too old. Its lifetime begins with its first cell.
  if redis.call('HSET', cells, field, table.concat(parts)) == 1 then
    redis.call('PEXPIRE', cells, lifetime, 'NX')
  end
end

for i = 0, (#KEYS - 1) / 2 - 1 do
  local at = 6 + i * 4
  if isCounted(ARGV[at]) then
    add(KEYS[2 + i * 2], ARGV[at + 1], ARGV[at + 3], ARGV[4])
    add(KEYS[3 + i * 2], ARGV[at + 2], ARGV[at + 3], ARGV[5])
  end
end
return gone
