import { getOrCreate, startDeadline } from '@switchhook/runtime'
import { retryAfter } from '../headered-error.ts'
import { type Caller, limitedClientOf } from '../route.ts'

export type LimitExpensive = ReturnType<typeof createLimitExpensive>

/** Of one client, and of one tenant, in this process. A page of a console sends fewer than ten. */
const LIMITS = {
  client: { atATime: 1, mostWaiting: 50, maxWaitMs: 10_000 },
  // The tenant's own identity provider names its clients and people, and can invent any number of them.
  tenant: { atATime: 4, mostWaiting: 50, maxWaitMs: 10_000 },
}

/**
 * Runs one expensive request of a client, and a few of a tenant, at a time. This leaves the process to others, and bounds
 * the large answers that a client does not read. Callers without a client have no limit.
 */
export function createLimitExpensive({ client, tenant } = LIMITS) {
  const ofClient = createQueues('client', client)
  const ofTenant = createQueues('tenant', tenant)

  /**
   * Runs the work once earlier work of the caller is done.
   * @param isClosed the client has closed the connection, so the work is not run
   * @throws HeaderedError `rate-limited` if too many of its requests wait, or this one waited too long
   */
  return async <Result>(caller: Caller, work: () => Promise<Result>, isClosed: () => boolean): Promise<Result> => {
    const name = limitedClientOf(caller)
    if (name === undefined) return work()
    return ofClient(name, () =>
      ofTenant(JSON.stringify(caller.tenant), async () => {
        if (isClosed()) throw refused('client')
        return await work()
      }),
    )
  }
}

interface Queue {
  running: number
  /** The starts of the requests that wait, the oldest first. */
  readonly waiting: (() => void)[]
}

/** Runs work of the same name in the order in which it came; only a name with many waiting requests is refused. */
function createQueues(owner: keyof typeof LIMITS, { atATime, mostWaiting, maxWaitMs }: typeof LIMITS.client) {
  const byName = new Map<string, Queue>()
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const queue = getOrCreate(byName, name, () => ({ running: 0, waiting: [] }))
    if (queue.running < atATime) queue.running += 1
    else if (queue.waiting.length < mostWaiting) await waitIn(queue.waiting, maxWaitMs, owner)
    else throw refused(owner)
    try {
      return await work()
    } finally {
      const next = queue.waiting.shift()
      if (next !== undefined) next()
      else if (--queue.running === 0) byName.delete(name)
    }
  }
}

function waitIn(waiting: Queue['waiting'], maxWaitMs: number, owner: keyof typeof LIMITS): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const start = (): void => {
    deadline.stop()
    resolve()
  }
  const deadline = startDeadline(maxWaitMs, () => {
    waiting.splice(waiting.indexOf(start), 1)
    reject(refused(owner))
  })
  waiting.push(start)
  return promise
}

const refused = (owner: keyof typeof LIMITS) =>
  retryAfter(
    'rate-limited',
    1,
    `Too many lists and summaries of this ${owner} are waiting; send fewer at the same time.`,
  )
