import type { Fate } from '@switchhook/contracts'

/**
 * Error replies about the state of Redis rather than about the command, by their first word, and whether Redis then
 * certainly has not executed the command.
 *
 * A script counts as one command: Redis checks memory, role, disk and replicas before the first write of a script and
 * never after it (`SCRIPT_WRITE_DIRTY` in script.c of Redis 7), so a script is refused as a whole or not at all.
 *
 * NOSCRIPT is listed because the library sends a forgotten script again: the reply gets here only if Redis restarted in
 * between. UNBLOCKED ends a command that was already waiting.
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

/** Redis answered: any other error is about the connection. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Redis answered that the command itself is wrong; trying again does not help. */
export const isRefusal = (error: unknown): error is Error => isReply(error) && !STATE_REPLIES.has(firstWord(error))

/**
 * Whether a command that failed with this error may have been executed. A lost connection or a missing answer leaves that
 * open, and so does a refusal: a script may fail after its first write.
 */
export const fateOf = (error: unknown): Fate =>
  isReply(error) ? (STATE_REPLIES.get(firstWord(error)) ?? 'unknown') : 'unknown'

const firstWord = ({ message }: Error): string => message.split(' ', 1)[0] ?? ''
