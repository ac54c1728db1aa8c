-- Deletes the message of a held delivery after it was published, unless the delivery has been held again meanwhile.
-- KEYS    1 message of the held delivery (held-message.ts)
-- ARGV    1 token of the published message
-- The token precedes everything that can be long but the URL, and quotes in that are escaped.
local start = redis.call('GETRANGE', KEYS[1], 0, 16383)
if string.find(start, '"sh-token":"' .. ARGV[1] .. '"', 1, true) then
  redis.call('DEL', KEYS[1])
end
