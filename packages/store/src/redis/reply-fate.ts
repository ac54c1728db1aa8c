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

/** Redis refuses the command before it runs. A script that meets the refusal may have written before. */
const NOT_PERMITTED = /^NOPERM(?!.* script: )( |$)/

/** The codes of errors about the stored data or the command's keys. `UNREADABLE` is ours (lua/prelude.lua). */
const DATA_CODE = /^(BUSYGROUP|CROSSSLOT|NOGROUP|UNREADABLE|WRONGTYPE)( |$)/

/**
 * Redis has one code, `ERR`, for most other errors: about the data, about a script, and about itself or its proxies
 * (`ERR max number of clients reached`, `ERR server is gone`).
 */
const DATA_TEXT =
  /^ERR (user_script|Error (running|compiling) script)|not an? (integer|float|valid)|not (integer|float)|out of range|overflow|syntax error|exceeds|wrong number of arguments|invalid/i

/** Whether the error is a reply of Redis. All other errors are about the connection. */
export const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/**
 * Whether Redis rejected the command because of its data, so that repeating it does not help. Every other error reply means
 * that Redis, its access rules or a proxy in front of it cannot serve now: a message that met it is not at fault.
 */
export const isRefusal = (error: unknown): error is Error =>
  isReply(error) &&
  (DATA_CODE.test(error.message) || (error.message.startsWith('ERR ') && DATA_TEXT.test(error.message)))

/**
 * Whether a command that failed with this error may have been executed. The fate is unknown after a lost connection or a
 * missing reply, and after a refusal too, because a script may fail after its first write.
 */
export const fateOf = (error: unknown): Fate =>
  isReply(error) && (NOT_EXECUTED.test(error.message) || NOT_PERMITTED.test(error.message)) ? 'not-executed' : 'unknown'
