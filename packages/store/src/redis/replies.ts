import type { Fate } from '@switchhook/contracts'
import { answerWithin } from '@switchhook/runtime'
import type { Redis as Single } from 'ioredis'

export type WatchedConnection = Pick<Single, 'status'> & {
  readonly stream?: Pick<Single['stream'], 'bytesRead' | 'cork' | 'destroy' | 'uncork'>
}

export const REPLY_LIMITS = {
  /** How long a caller waits for its replies, those of a Redis that accepts connections but answers nothing included. */
  replyMs: 3_000,
  /** How long the connection may stay silent while a reply is due. TCP itself would keep it for about 15 minutes. */
  silenceMs: 6_000,
  /** How often the silence is checked; it is late by at most this. */
  checkEveryMs: 200,
}

export interface ReplyWatch {
  /** Sends commands. Rejects if they are not answered in time; their late replies are dropped. */
  readonly send: <T>(action: () => Promise<T>) => Promise<T>
  readonly stop: () => void
}

const TOO_LATE = 'Redis did not reply in time'

/**
 * Sends over one connection. The commands of one iteration of the event loop share one write. ioredis' own `commandTimeout`,
 * `socketTimeout` and `enableAutoPipelining` do the same at three times the processor time of a whole command (ADR 0041),
 * and its timers do not allow for a stall.
 */
export function watchReplies(
  connection: WatchedConnection,
  { replyMs, silenceMs, checkEveryMs } = REPLY_LIMITS,
): ReplyWatch {
  /** Commands whose replies have not arrived, those that were given up included. */
  let due = 0
  let corked: WatchedConnection['stream']

  function corkForThisIteration(): void {
    const { stream } = connection
    if (stream === undefined || stream === corked) return
    stream.cork()
    corked = stream
    setImmediate(() => {
      stream.uncork()
      if (corked === stream) corked = undefined
    })
  }

  const checkSilence = createSilenceWatch(connection, Math.ceil(silenceMs / checkEveryMs))
  // After a stall, the immediate runs once the replies that arrived meanwhile have been read.
  const timer = setInterval(() => setImmediate(() => checkSilence(due > 0)), checkEveryMs)
  timer.unref()

  return {
    async send(action) {
      corkForThisIteration()
      const replies = action()
      due += 1
      const arrived = (): void => {
        due -= 1
      }
      replies.then(arrived, arrived)
      return await answerWithin(replyMs, replies, TOO_LATE)
    },
    stop: () => clearInterval(timer),
  }
}

/** Limits only how long a caller waits. */
export const limitReplies = (): ReplyWatch => ({
  send: (action) => answerWithin(REPLY_LIMITS.replyMs, action(), TOO_LATE),
  stop: () => {},
})

/** Drops a connection from which nothing is read for `mostChecks` checks, although Redis owes a reply. */
function createSilenceWatch(connection: WatchedConnection, mostChecks: number): (isReplyDue: boolean) => void {
  let stream: WatchedConnection['stream']
  let bytesRead = 0
  let silentChecks = 0
  return (isReplyDue) => {
    const present = connection.stream
    // `connect`: ioredis waits for the replies of its handshake.
    const isExpecting = isReplyDue || connection.status === 'connect'
    if (present === undefined || !isExpecting || present !== stream || present.bytesRead !== bytesRead) {
      stream = present
      bytesRead = present?.bytesRead ?? 0
      silentChecks = 0
      return
    }
    silentChecks += 1
    if (silentChecks >= mostChecks) present.destroy(new Error('the connection to Redis was silent for too long'))
  }
}

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

/** The codes of errors about the stored data or the command's keys. */
const DATA_CODE = /^(BUSYGROUP|CROSSSLOT|NOGROUP|WRONGTYPE)( |$)/

/** Redis has one code, `ERR`, for most other errors, also about itself or its proxies (`ERR server is gone`). */
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
