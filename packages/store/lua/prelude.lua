-- Precedes the text of every script (scripts.ts).

-- Redis' clock, in µs since 1970.
local function micros()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- The same in ms.
local function clock()
  return math.floor(micros() / 1000)
end

-- A whole number as text. Lua may write a large one with an exponent.
local function digits(number)
  return string.format('%.0f', number)
end

-- Whether a cool-down or a lease runs. One that begins in the future is over: a Redis whose clock was ahead wrote it.
local function runs(now, from, til)
  return til and tonumber(from) <= now and now < tonumber(til)
end

-- The score (µs) of the next entry of a list by time. Scores are unique within a list, so that they can be cursors.
local function nextScore(list, now)
  local newest = redis.call('ZRANGE', list, 0, 0, 'REV', 'WITHSCORES')[2]
  return math.max(now, newest and newest + 1 or 0)
end

-- Keeps the times in sorted sets right after a failover to a Redis whose clock is behind: otherwise all that is due would wait
-- until this clock has caught up. Moves the times to come by the difference.
-- `seen`: the key of the time of the last call for these sets
-- Returns the time that it went by. A later one of the script would not include what is due right now: before Redis 7.2 the clock
-- goes on while a script runs.
local function keepTime(seen, ...)
  local now = clock()
  local behind = tonumber(redis.call('GET', seen) or 0) - now
  if behind > 1000 then
    for _, set in ipairs({ ... }) do
      local coming = redis.call('ZRANGE', set, digits(now), '+inf', 'BYSCORE', 'WITHSCORES')
      for i = 1, #coming, 2 do
        redis.call('ZADD', set, digits(coming[i + 1] - behind), coming[i])
      end
    end
  end
  if behind > 1000 or behind < -100 then
    redis.call('SET', seen, digits(now), 'PX', 3600000)
  end
  return now
end

-- The ledger line of a record (delivery-record.ts) and its attempts, each after a newline.
local function splitRecord(record)
  return string.match(record, '^([^\n]*)\n?[^\n]*(.*)$')
end

-- What scripts need of a ledger line; what follows it may be cut off. nil: there is no ledger.
-- `ended`: this run, or the one before while this one is not known to be published.
local function parseLedger(line)
  local run, state, attempt = string.match(line, '^(%d+) %-?%d+ (%a+) (%d+)')
  return run and { run = tonumber(run), state = state, attempt = attempt, ended = run - (state == 'unsent' and 1 or 0) }
end

-- The ledger line of a run of which no slot is settled.
local function newLedger(run, state, attempt)
  return string.format('%d -1 %s %s', run, state, attempt)
end

-- A lease is its end in ms, followed by three digits for its length in seconds.
local function leaseFrom(from, seconds)
  return string.format('%.0f%03d', from + seconds * 1000, seconds)
end

-- Leases up to `most` of the held deliveries that have been due for longest. Adds delivery and lease of each to `reply`.
local function leaseDue(held, leased, most, seconds, reply)
  local now = clock()
  local due = redis.call('ZRANGE', held, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, math.max(0, most))
  local lifetime = digits(math.max(redis.call('PTTL', held), redis.call('PTTL', leased)))
  for _, delivery in ipairs(due) do
    redis.call('ZREM', held, delivery)
    redis.call('ZADD', leased, leaseFrom(now, seconds), delivery)
    reply[#reply + 1] = delivery
    reply[#reply + 1] = leaseFrom(now, seconds)
  end
  if #due > 0 then
    redis.call('PEXPIRE', leased, lifetime)
  end
  return due
end

-- Most deliveries take one unit of a limit. A hash has the further units of each of the others, and their `sum`.
local function setExtra(extras, member, extra)
  local before = tonumber(redis.call('HGET', extras, member) or 0)
  if before ~= extra then
    redis.call('HINCRBY', extras, 'sum', extra - before)
    if extra > 0 then
      redis.call('HSET', extras, member, digits(extra))
    else
      redis.call('HDEL', extras, member)
    end
  end
end

local function sumOfExtras(extras)
  return tonumber(redis.call('HGET', extras, 'sum') or 0)
end

local function unitsOf(extras, member)
  return 1 + tonumber(redis.call('HGET', extras, member) or 0)
end

-- Removes members with a score up to `last` from a list.
local function removeUpTo(list, extras, last)
  if sumOfExtras(extras) > 0 then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', list, '-inf', last)) do
      setExtra(extras, member, 0)
    end
  end
  redis.call('ZREMRANGEBYSCORE', list, '-inf', last)
end

-- The units that the parked deliveries of a subscription take: those of deliveries with a body, of which as many may be kept
-- without.
local function parkedSize(parked, parkedLimit, extras)
  local bodiesUntil = redis.call('HGET', parkedLimit, 'bodiesUntil') or '0'
  local whole = redis.call('ZCOUNT', parked, '(' .. bodiesUntil, '+inf') + sumOfExtras(extras)
  return math.max(whole, math.ceil(redis.call('ZCARD', parked) / 2))
end
