import type { Fate } from '@switchhook/contracts'

/**
 * Error replies about the state of Redis, not about the command. The key is the first word of the reply; the value says
 * whether Redis may have executed the command.
 *
 * A script counts as one command. Redis checks memory, role, disk and replicas before a script's first write and never
 * afterwards (`SCRIPT_WRITE_DIRTY` in script.c of Redis 7), so it refuses a script entirely or not at all.
 *
 * NOSCRIPT is listed because ioredis resends a script that Redis does not know. The reply gets here only if Redis
 * restarts in between. UNBLOCKED ends a command that was already waiting.
 */
const STATE_REPLIES: ReadonlyMap<string, Fate> = new Map([
  ['ASK', 'not-executed'],
  ['BUSY', 'not-executed'],
  ['CLUSTERDOWN', 'not-executed'],
  ['DENIED', 'not-executed'],
  ['LOADING', 'not-executed'],
  ['MASTERDOWN', 'not-executed'],
  ['MISCONF', 'not-executed'],
  ['MOVED', 'not-executed'],
  ['NOAUTH', 'not-executed'],
  ['NOREPLICAS', 'not-executed'],
  ['NOSCRIPT', 'not-executed'],
  ['OOM', 'not-executed'],
  ['READONLY', 'not-executed'],
  ['TRYAGAIN', 'not-executed'],
  ['UNBLOCKED', 'unknown'],
  ['WRONGPASS', 'not-executed'],
])

/** Whether the error is a reply of Redis. All other errors are about the connection. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Whether Redis rejected the command itself, so that repeating it does not help. */
export const isRefusal = (error: unknown): error is Error => isReply(error) && !STATE_REPLIES.has(firstWord(error))

/**
 * Whether a command that failed with this error may have been executed. The fate is unknown after a lost connection or a
 * missing reply, and after a refusal too, because a script may fail after its first write.
 */
export const fateOf = (error: unknown): Fate =>
  isReply(error) ? (STATE_REPLIES.get(firstWord(error)) ?? 'unknown') : 'unknown'

const firstWord = ({ message }: Error): string => message.split(' ', 1)[0] ?? ''
