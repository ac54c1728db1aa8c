-- Reads the state of endpoints' breakers and, if asked for, their subscriptions. Changes nothing.
-- KEYS    for each endpoint: breaker, subscriptions, the tenant's listening key, rejected
-- ARGV    for each endpoint: its subscription, '' to leave it out
-- result  for each endpoint: 'closed', 'open' (in its cool-down) or 'probing' (the cool-down is over); failures in a row; end
--         of the cool-down in ms since 1970, 0 for none; the subscription as JSON, '' for none; 1 if a client reads the
--         tenant's live stream, else 0; the recorded rejections, '' for none or if the subscription does not recover them;
--         how many of the last results hung
local function read(breaker, subscriptions, listening, rejections, id)
  local subscription = id ~= '' and redis.call('HGET', subscriptions, id) or ''
  local listened = redis.call('EXISTS', listening)
  local isRecovered = string.find(subscription, '"recoverRejected":true', 1, true)
  local rejected = isRecovered and redis.call('GET', rejections) or ''
  local failures, openedAt, openUntil, recent =
    unpack(redis.call('HMGET', breaker, 'failures', 'openedAt', 'openUntil', 'recent'))
  local _, hangs = string.gsub(recent or '', 'h', '')
  if not openUntil then
    return { 'closed', tonumber(failures or 0), '0', subscription, listened, rejected, hangs }
  end
  local state = runs(clock(), openedAt, openUntil) and 'open' or 'probing'
  return { state, tonumber(failures), openUntil, subscription, listened, rejected, hangs }
end

local found = {}
for at, id in ipairs(ARGV) do
  local key = 4 * at
  found[at] = read(KEYS[key - 3], KEYS[key - 2], KEYS[key - 1], KEYS[key], id)
end
return found
