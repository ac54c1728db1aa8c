import { Unavailable } from '@switchhook/contracts'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { requestsKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

/** So many requests of one client within a window, which begins with its first request. */
export interface RequestRate {
  readonly requests: number
  /** In whole seconds. */
  readonly windowMs: number
}

interface RequestQuota {
  /** The request is one too many. */
  readonly isOver: boolean
  readonly remaining: number
  /** Until the window ends. */
  readonly resetMs: number
}

/** Counts the requests of each client, over all processes. */
export interface RequestLimiter {
  /**
   * One command to Redis; none once the client is over, until its window ends. Without Redis, or when it does not answer
   * soon, each process counts for itself: it never rejects for that reason.
   * @param client a name of hexadecimal digits
   */
  count(client: string): Promise<RequestQuota>
}

/** Long for a Redis that is well; what is asked of it next has a deadline of its own. */
const ANSWER_WITHIN_MS = 500

export function createRequestLimiter(redis: Redis, { requests, windowMs }: RequestRate): RequestLimiter {
  const own = { points: requests, duration: windowMs / 1_000, keyPrefix: '' }
  const limiter = new RateLimiterRedis({
    ...own,
    // All that the library asks of a client; its own script would go past `run`, and be one that no file holds.
    storeClient: {
      rlflxIncr: ([key = '', points = '', seconds = '']: readonly string[]) =>
        soon(redis[run]((commands) => commands.runScript('count-request', [key], [points, seconds]))),
    },
    inMemoryBlockOnConsumed: requests,
    insuranceLimiter: new RateLimiterMemory(own),
  })
  return {
    async count(client) {
      try {
        return quotaOf(await limiter.consume(requestsKey(client)), false)
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return quotaOf(refused, true)
        throw refused
      }
    },
  }
}

const quotaOf = ({ remainingPoints, msBeforeNext }: RateLimiterRes, isOver: boolean): RequestQuota => ({
  isOver,
  remaining: remainingPoints,
  resetMs: Math.max(msBeforeNext, 0),
})

function soon<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Unavailable('redis', 'Redis did not answer in time'))
    const timer = setTimeout(late, ANSWER_WITHIN_MS)
    void reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
