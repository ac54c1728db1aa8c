-- Counts what a tenant keeps of one kind, by the cell of time in which it ends, and forgets the cells that have passed
-- (kept-counts.ts).
-- KEYS    1 counts   2 when something was refused
-- ARGV    1 '' if nothing was refused, else how long that is remembered, in ms
--         2… per cell: its end, ms since 1970, and how many more end in it
-- result  how many are kept
local now, kept, last = clock(), 0, 0

for i = 2, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
end
local cells = redis.call('HGETALL', KEYS[1])
for i = 1, #cells, 2 do
  local endMs = tonumber(cells[i])
  if endMs <= now then
    redis.call('HDEL', KEYS[1], cells[i])
  else
    kept = kept + tonumber(cells[i + 1])
    last = math.max(last, endMs)
  end
end
if last > 0 then
  redis.call('PEXPIREAT', KEYS[1], digits(last))
end
if ARGV[1] ~= '' then
  redis.call('SET', KEYS[2], digits(now), 'PX', ARGV[1])
end
return kept
