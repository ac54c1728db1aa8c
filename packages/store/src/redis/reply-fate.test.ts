import { fateOf, isRefusal } from './replies.ts'

const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' })

/** Replies of Redis 7 and 8. For a script, Redis appends the script's name. */
test.each([
  ["OOM command not allowed when used memory > 'maxmemory'. script: 1f2e, on @user_script:22.", 'not-executed'],
  ["READONLY You can't write against a read only replica.", 'not-executed'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'not-executed'],
  ['NOREPLICAS Not enough good replicas to write.', 'not-executed'],
  ['LOADING Redis is loading the dataset in memory', 'not-executed'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'not-executed'],
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', 'not-executed'],
  ['CLUSTERDOWN The cluster is down', 'not-executed'],
  ['MOVED 3999 127.0.0.1:6381', 'not-executed'],
  ['ASK 3999 127.0.0.1:6381', 'not-executed'],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'not-executed'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'not-executed'],
  ['NOAUTH Authentication required.', 'not-executed'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'not-executed'],
  ['DENIED Redis is running in protected mode', 'not-executed'],
  ["NOPERM this user has no permissions to run the 'evalsha' command", 'not-executed'],
  ["NOPERM this user has no permissions to run the 'set' command script: 1f2e, on @user_script:1.", 'unknown'],
  [
    "ERR The user executing the script can't run this command or subcommand script: 1f2e, on @user_script:1.",
    'unknown',
  ],
  ["ERR The user executing the script can't access at least one of the keys mentioned in the command", 'unknown'],
  ['ERR ACL failure in script: User sh has no permissions to access keys', 'unknown'],
  ['ERR max number of clients reached', 'unknown'],
  ['ERR max number of clients + cluster connections reached', 'unknown'],
  ['ERR server is gone', 'unknown'],
  ['ERR Connection timed out', 'unknown'],
  ['ERR backend connection error', 'unknown'],
  ['ERR upstream failure', 'unknown'],
  ['ERR command not allowed when the server is in maintenance', 'unknown'],
  ["ERR unknown command 'EVALSHA'", 'unknown'],
  ['no upstream host', 'unknown'],
  ['UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)', 'unknown'],
])('%s: the state of Redis; the command is %s', (message, fate) => {
  expect(isRefusal(reply(message))).toBe(false)
  expect(fateOf(reply(message))).toBe(fate)
})

test.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value script: 1f2e, on @user_script:14.',
  'ERR user_script:30: attempt to compare nil with number',
  'ERR value is not an integer or out of range script: 1f2e, on @user_script:9.',
  'ERR hash value is not an integer',
  'ERR value is not a valid float',
  'ERR index out of range',
  'ERR increment or decrement would overflow',
  'ERR syntax error',
  'ERR string exceeds maximum allowed size (proto-max-bulk-len)',
  "ERR invalid expire time in 'set' command",
  "NOGROUP No such consumer group 'a' for key name 'b'",
  'ERR Error running script (call to f_1f2e): @user_script:3: attempt to index nil',
  "ERR wrong number of arguments for 'set' command",
  "CROSSSLOT Keys in request don't hash to the same slot",
  'BUSYGROUP Consumer Group name already exists',
])('%s: the command is refused; a script may have written before', (message) => {
  expect(isRefusal(reply(message))).toBe(true)
  expect(fateOf(reply(message))).toBe('unknown')
})

test.each([
  new Error('Command timed out'),
  new Error('Connection is closed.'),
  new Error('read ECONNRESET'),
  new Error('OOM, but not from Redis'),
  undefined,
])('%p is no reply of Redis: the command may have been executed', (error) => {
  expect(isRefusal(error)).toBe(false)
  expect(fateOf(error)).toBe('unknown')
})
