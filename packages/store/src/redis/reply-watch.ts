import type { Redis as Single } from 'ioredis'

/** What `watchReplies` needs of an ioredis connection. */
export type WatchedConnection = Pick<Single, 'status'> & {
  readonly stream?: Pick<Single['stream'], 'bytesRead' | 'cork' | 'destroy' | 'uncork'>
}

export interface ReplyLimits {
  /** How long a caller waits for its replies. */
  readonly replyMs: number
  /** How long the connection may stay silent while a reply is due. Then it is dropped. */
  readonly silenceMs: number
  /** How often both are checked; they are late by at most this. */
  readonly checkEveryMs: number
}

export interface ReplyWatch {
  /** Sends commands. Rejects if they are not answered in time; their late replies are dropped. */
  readonly send: <T>(action: () => Promise<T>) => Promise<T>
  readonly stop: () => void
}

interface Outstanding {
  readonly expiresAtCheck: number
  readonly expire: () => void
}

/**
 * Sends over one connection. One timer limits the wait of all callers, and the commands of one turn of the event loop share
 * one write. ioredis' own `commandTimeout`, `socketTimeout` and `enableAutoPipelining` do the same at three times the
 * processor time of a whole command (ADR 0041).
 */
export function watchReplies(
  connection: WatchedConnection,
  { replyMs, silenceMs, checkEveryMs }: ReplyLimits,
): ReplyWatch {
  /** In the order of their deadlines. An expired one stays until its replies arrive or the connection is lost. */
  const outstanding = new Set<Outstanding>()
  let checks = 0
  let corked: WatchedConnection['stream']

  function corkForThisTurn(): void {
    const { stream } = connection
    if (stream === undefined || stream === corked) return
    stream.cork()
    corked = stream
    setImmediate(() => {
      stream.uncork()
      if (corked === stream) corked = undefined
    })
  }

  const silence = createSilenceWatch(connection, Math.ceil(silenceMs / checkEveryMs))
  // Counts checks instead of reading a clock: a blocked process does not give up on replies that it has not read yet.
  const timer = setInterval(() => {
    checks += 1
    for (const { expiresAtCheck, expire } of outstanding) {
      if (expiresAtCheck > checks) break
      expire()
    }
    silence.check(outstanding.size > 0)
  }, checkEveryMs)
  timer.unref()

  return {
    send: (action) =>
      new Promise((resolve, reject) => {
        const one: Outstanding = {
          expiresAtCheck: checks + 1 + Math.ceil(replyMs / checkEveryMs),
          expire: () => reject(new Error('Redis did not reply in time')),
        }
        corkForThisTurn()
        const replies = action()
        outstanding.add(one)
        const ending =
          <Result>(settle: (result: Result) => void) =>
          (result: Result): void => {
            outstanding.delete(one)
            settle(result)
          }
        replies.then(ending(resolve), ending(reject))
      }),
    stop: () => clearInterval(timer),
  }
}

/** Leaves all limits to ioredis. */
export const UNWATCHED: ReplyWatch = { send: (action) => action(), stop: () => {} }

/** Drops a connection from which nothing is read for `mostChecks` checks, although Redis owes a reply. */
function createSilenceWatch(connection: WatchedConnection, mostChecks: number) {
  let stream: WatchedConnection['stream']
  let bytesRead = 0
  let silentChecks = 0
  return {
    check(isReplyDue: boolean): void {
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
    },
  }
}
