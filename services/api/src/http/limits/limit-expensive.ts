import { startDeadline } from '@switchhook/runtime'
import { HeaderedError } from '../headered-error.ts'
import { type Caller, limitedClientOf } from '../route.ts'

export type LimitExpensive = ReturnType<typeof createLimitExpensive>

/**
 * Of one client in this process. One expensive request of a client at a time leaves the process to others; a page of a
 * console sends fewer than ten. The wait is part of the lease of an idempotency key, 30 s, and must leave most of it to the
 * work.
 */
const LIMITS = { atOnce: 1, waiting: 50, maxWaitMs: 10_000 }

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Runs few expensive requests of a client concurrently, so that they cannot slow down other clients. The others wait in the
 * order in which they came; only a client with many waiting ones is refused. Callers without a client have no limit.
 */
export function createLimitExpensive({ atOnce, waiting, maxWaitMs } = LIMITS) {
  const queues = new Map<string, Queue>()

  /**
   * Runs the work once earlier work of the caller is done.
   * @param isClosed the client has closed the connection, so the work is not run
   * @throws HeaderedError `rate-limited` if too many of its requests wait, or this one waited too long
   */
  return async <Result>(caller: Caller, work: () => Promise<Result>, isClosed: () => boolean): Promise<Result> => {
    const client = limitedClientOf(caller)
    if (client === undefined) return work()
    const queue = queues.get(client) ?? { running: 0, waiting: [] }
    queues.set(client, queue)
    if (queue.running < atOnce) queue.running += 1
    else if (queue.waiting.length < waiting) await turnIn(queue, maxWaitMs)
    else throw refused()
    try {
      if (isClosed()) throw refused()
      return await work()
    } finally {
      const next = queue.waiting.shift()
      if (next !== undefined) next()
      else {
        queue.running -= 1
        if (queue.running === 0) queues.delete(client)
      }
    }
  }
}

function turnIn({ waiting }: Queue, maxWaitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      deadline.stop()
      resolve()
    }
    const deadline = startDeadline(maxWaitMs, () => {
      waiting.splice(waiting.indexOf(start), 1)
      reject(refused())
    })
    waiting.push(start)
  })
}

const refused = () => new HeaderedError('rate-limited', { 'Retry-After': '1' }, { detail: TOO_MANY })

const TOO_MANY = 'Too many lists and summaries of this client are waiting; send fewer at the same time.'
