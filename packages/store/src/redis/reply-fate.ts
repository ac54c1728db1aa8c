import type { Fate } from '@switchhook/contracts'

/**
 * Error replies about the state of Redis, not about the command. Redis has not executed the command.
 *
 * A script counts as one command. Redis checks memory, role, disk and replicas before a script's first write and never
 * afterwards (`SCRIPT_WRITE_DIRTY` in script.c of Redis 7), so it refuses a script entirely or not at all.
 *
 * NOSCRIPT is listed because ioredis resends a script that Redis does not know. The reply gets here only if Redis
 * restarts in between.
 */
const NOT_EXECUTED =
  /^(ASK|BUSY|CLUSTERDOWN|DENIED|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOREPLICAS|NOSCRIPT|OOM|READONLY|TRYAGAIN|WRONGPASS)( |$)/

/** The reply about the state that leaves the fate open: it ends a command that was already waiting. */
const MAYBE_EXECUTED = /^UNBLOCKED( |$)/

/** Whether the error is a reply of Redis. All other errors are about the connection. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** Whether Redis rejected the command itself, so that repeating it does not help. */
export const isRefusal = (error: unknown): error is Error =>
  isReply(error) && !NOT_EXECUTED.test(error.message) && !MAYBE_EXECUTED.test(error.message)

/**
 * Whether a command that failed with this error may have been executed. The fate is unknown after a lost connection or a
 * missing reply, and after a refusal too, because a script may fail after its first write.
 */
export const fateOf = (error: unknown): Fate =>
  isReply(error) && NOT_EXECUTED.test(error.message) ? 'not-executed' : 'unknown'
