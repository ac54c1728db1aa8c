import { startDeadline } from '@switchhook/runtime'
import { retryAfter } from '../headered-error.ts'
import { type Caller, limitedClientOf } from '../route.ts'

export type LimitExpensive = ReturnType<typeof createLimitExpensive>

/**
 * Of one client in this process. A page of a console sends fewer than ten. The wait is part of the lease of an idempotency
 * key, 30 s, and must leave most of it to the work.
 */
const LIMITS = { mostWaiting: 50, maxWaitMs: 10_000 }

/** The starts of the requests that wait, the oldest first. */
type Queue = (() => void)[]

/**
 * Runs one expensive request of a client at a time, which leaves the process to other clients. The others wait in the order
 * in which they came; only a client with many waiting ones is refused. Callers without a client have no limit.
 */
export function createLimitExpensive({ mostWaiting, maxWaitMs } = LIMITS) {
  /** Of the clients with a running request. */
  const queues = new Map<string, Queue>()

  /**
   * Runs the work once earlier work of the caller is done.
   * @param isClosed the client has closed the connection, so the work is not run
   * @throws HeaderedError `rate-limited` if too many of its requests wait, or this one waited too long
   */
  return async <Result>(caller: Caller, work: () => Promise<Result>, isClosed: () => boolean): Promise<Result> => {
    const client = limitedClientOf(caller)
    if (client === undefined) return work()
    const running = queues.get(client)
    const waiting = running ?? []
    if (running === undefined) queues.set(client, waiting)
    else if (waiting.length < mostWaiting) await turnIn(waiting, maxWaitMs)
    else throw refused()
    try {
      if (isClosed()) throw refused()
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) queues.delete(client)
      else next()
    }
  }
}

function turnIn(waiting: Queue, maxWaitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const start = (): void => {
    deadline.stop()
    resolve()
  }
  const deadline = startDeadline(maxWaitMs, () => {
    waiting.splice(waiting.indexOf(start), 1)
    reject(refused())
  })
  waiting.push(start)
  return promise
}

const refused = () =>
  retryAfter('rate-limited', 1, 'Too many lists and summaries of this client are waiting; send fewer at the same time.')
