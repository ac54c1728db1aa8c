import { Unavailable } from '@switchhook/contracts'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { requestsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

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
   * Takes requests from the window in blocks of a hundredth: one command to Redis for each block, and none once the client is
   * over, until its window ends. All processes together let through no more than the window has, and fewer by at most the
   * blocks that others hold. Without Redis, or when it does not answer soon, each process counts for itself: it never
   * rejects for that reason.
   * @param client a name of hexadecimal digits
   */
  count(client: string): Promise<RequestQuota>
}

/** What this process has taken of a client's window, and not used yet. */
interface Block {
  left: number
  /** Of the window, when it was taken. */
  readonly beyond: number
  /** ms since 1970. */
  readonly endsAtMs: number
}

const BLOCKS_PER_WINDOW = 100
/** More clients than are at work at a time. Of those beyond it, what the longest unused one has left is given up. */
const MOST_CLIENTS = 10_000

/** Long for a Redis that is well; what is asked of it next has a deadline of its own. */
const ANSWER_WITHIN_MS = 500

export function createRequestLimiter(redis: Redis, { requests, windowMs }: RequestRate): RequestLimiter {
  const own = { points: requests, duration: windowMs / 1_000, keyPrefix: '' }
  const limiter = new RateLimiterRedis({
    ...own,
    // All that the library asks of a client; its own script would go past `run`, and be one that no file holds.
    storeClient: {
      rlflxIncr: ([key = '', points = '', seconds = '']: readonly string[]) =>
        soon(redis[run]((commands) => commands.runScript('requests/count-requests', [key], [points, seconds]))),
    },
    inMemoryBlockOnConsumed: requests,
    insuranceLimiter: new RateLimiterMemory(own),
  })
  const blockSize = Math.max(1, Math.floor(requests / BLOCKS_PER_WINDOW))
  const blocks = new Map<string, Block>()
  const asking = new Map<string, Promise<RequestQuota | undefined>>()

  function hold(client: string, left: number, { remainingPoints, msBeforeNext }: RateLimiterRes): void {
    blocks.delete(client)
    const [longestUnused] = blocks.keys()
    if (blocks.size >= MOST_CLIENTS && longestUnused !== undefined) blocks.delete(longestUnused)
    blocks.set(client, { left, beyond: remainingPoints, endsAtMs: Date.now() + msBeforeNext })
  }

  /** Resolves to the refusal, if there is nothing left to take. */
  async function take(client: string): Promise<RequestQuota | undefined> {
    try {
      hold(client, blockSize, await limiter.consume(requestsKey(client), blockSize))
      return undefined
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      // The last block of a window may be a smaller one. A client that is remembered to be over has consumed nothing.
      const left = refused.consumedPoints === 0 ? 0 : requests - (refused.consumedPoints - blockSize)
      if (left <= 0) return { isOver: true, remaining: 0, resetMs: Math.max(refused.msBeforeNext, 0) }
      hold(client, left, refused)
      return undefined
    }
  }

  /** Whoever comes meanwhile waits for the same block. */
  function ask(client: string): Promise<RequestQuota | undefined> {
    const asked = asking.get(client) ?? take(client).finally(() => asking.delete(client))
    asking.set(client, asked)
    return asked
  }

  return {
    async count(client) {
      for (;;) {
        const block = blocks.get(client)
        const leftMs = (block?.endsAtMs ?? 0) - Date.now()
        if (block !== undefined && block.left > 0 && leftMs > 0) {
          block.left -= 1
          return { isOver: false, remaining: block.beyond + block.left, resetMs: leftMs }
        }
        const refusal = await ask(client)
        if (refusal !== undefined) return refusal
      }
    },
  }
}

function soon<T>(reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Unavailable('redis', 'Redis did not answer in time'))
    const timer = setTimeout(late, ANSWER_WITHIN_MS)
    void reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
