-- Adds events that were fanned out to lists and journals, and removes the oldest entries. An entry that is listed already
-- keeps its place. The list of a journal is the index of its stream, in which an entry's id is its score: milliseconds,
-- then the microseconds within.
-- A list exceeds its limits by a little, so that few calls remove anything: its number by a 32nd, its age by a 64th.
-- A long one exceeds its number by 64 only: Redis serves nothing else while it removes entries.
-- KEYS    for each list: the list, and of a journal its stream
-- ARGV    for each list: most entries, retention in ms, 'journal', 'list' or 'new' (a list that keeps its lifetime, if it has
--         one), number of entries; then the entries from the oldest on: in a list the entry, in a journal the event's id, its
--         text, its data
local now = micros()

local function idAt(score)
  return string.format('%.0f-%.0f', math.floor(score / 1000), score % 1000)
end

local function add(list, stream, at, count)
  local first = nextScore(list, now)
  local width = stream and 3 or 1
  local places = {}
  for i = 1, count do
    places[2 * i - 1] = digits(first + i - 1)
    places[2 * i] = ARGV[at + width * (i - 1)]
  end
  local added = redis.call('ZADD', list, 'NX', unpack(places))
  for i = 1, stream and count or 0 do
    -- An event that has another place was journaled before.
    if added == count or redis.call('ZSCORE', list, places[2 * i]) == places[2 * i - 1] then
      redis.call('XADD', stream, idAt(first + i - 1), 'event', ARGV[at + 3 * i - 2], 'data', ARGV[at + 3 * i - 1])
    end
  end
end

local function trim(list, stream, most)
  local excess = redis.call('ZCARD', list) - most
  if excess > math.min(most / 32, 64) then
    redis.call('ZREMRANGEBYRANK', list, 0, excess - 1)
    if stream then
      redis.call('XTRIM', stream, 'MAXLEN', most)
    end
  end
end

local function expire(list, stream, retention)
  local lifetime = retention + math.floor(retention / 64)
  local left = redis.call('PTTL', list)
  if left < retention or left > lifetime then
    local oldest = now - retention * 1000
    redis.call('ZREMRANGEBYSCORE', list, '-inf', '(' .. digits(oldest))
    redis.call('PEXPIRE', list, lifetime)
    if stream then
      redis.call('XTRIM', stream, 'MINID', idAt(oldest))
      redis.call('PEXPIRE', stream, lifetime)
    end
  end
end

local key, at = 1, 1
while key <= #KEYS do
  local list, most, retention = KEYS[key], tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local kind, count = ARGV[at + 2], tonumber(ARGV[at + 3])
  local isJournal = kind == 'journal'
  local stream = isJournal and KEYS[key + 1]
  add(list, stream, at + 4, count)
  trim(list, stream, most)
  if kind ~= 'new' then
    expire(list, stream, retention)
  elseif redis.call('PTTL', list) < 0 then
    redis.call('PEXPIRE', list, retention)
  end
  key = key + (isJournal and 2 or 1)
  at = at + 4 + count * (isJournal and 3 or 1)
end
