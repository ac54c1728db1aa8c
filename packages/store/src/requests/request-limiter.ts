import { answerWithin, type Rate } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { requestsKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

interface RequestQuota {
  readonly isOver: boolean
  readonly remaining: number
  /** Time until the window ends. */
  readonly resetMs: number
}

/** Requests that this process has taken from a client's window. */
interface Block {
  /** Not used yet. */
  left: number
  /** Left in the window when the block was taken. */
  readonly beyond: number
  /** ms since 1970. */
  readonly endsAtMs: number
}

const BLOCKS_PER_WINDOW = 100
/** More clients than are active at the same time. Beyond it, the block that was unused for longest is given up. */
const MAX_CLIENTS = 10_000

/** Long for a healthy Redis. The request's other commands have their own timeouts. */
const ANSWER_WITHIN_MS = 500

/**
 * Limits the requests of each client over all processes. The window, a whole number of seconds, begins with the client's first
 * request. Takes requests from it in blocks of a hundredth, each with one Redis command. Once a client is over its limit, it
 * costs no command until its window ends. All processes together never exceed the limit, and stay below it by at most the
 * blocks that other processes hold. If Redis is down or slow, each process counts alone: no request is rejected for it.
 */
export function createRequestLimiter(redis: Redis, { requests, windowMs }: Rate) {
  const own = { points: requests, duration: windowMs / 1_000, keyPrefix: '' }
  const limiter = new RateLimiterRedis({
    ...own,
    // The only method that the library calls. Its own script would bypass `run` and this package's scripts.
    storeClient: {
      rlflxIncr: ([key = '', points = '', seconds = '']: readonly string[]) => {
        const counting = runScript(redis, 'requests/count-requests', [key], [points, seconds])
        return answerWithin(ANSWER_WITHIN_MS, counting, 'Redis did not answer in time')
      },
    },
    inMemoryBlockOnConsumed: requests,
    insuranceLimiter: new RateLimiterMemory(own),
  })
  const blockSize = Math.max(1, Math.floor(requests / BLOCKS_PER_WINDOW))
  const blocks = new LRUCache<string, Block>({ max: MAX_CLIENTS })
  const asking = new Map<string, Promise<RequestQuota | undefined>>()

  function hold(client: string, left: number, { remainingPoints, msBeforeNext }: RateLimiterRes): void {
    blocks.set(client, { left, beyond: remainingPoints, endsAtMs: Date.now() + msBeforeNext })
  }

  /** Resolves to the refusal if the window is used up. */
  async function take(client: string): Promise<RequestQuota | undefined> {
    try {
      hold(client, blockSize, await limiter.consume(requestsKey(client), blockSize))
      return undefined
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      // The last block of a window may be smaller. For a client that is known to be over, the library consumes nothing.
      const left = refused.consumedPoints === 0 ? 0 : requests - (refused.consumedPoints - blockSize)
      hold(client, Math.max(left, 0), refused)
      return left > 0 ? undefined : { isOver: true, remaining: 0, resetMs: Math.max(refused.msBeforeNext, 0) }
    }
  }

  /** Concurrent requests wait for the same block. */
  function ask(client: string): Promise<RequestQuota | undefined> {
    const asked = asking.get(client) ?? take(client).finally(() => asking.delete(client))
    asking.set(client, asked)
    return asked
  }

  return {
    /** Whether this process knows that the client has used up its window. Counts nothing, and costs no command. */
    isUsedUp(client: string): boolean {
      const block = blocks.get(client)
      return block !== undefined && block.left + block.beyond === 0 && block.endsAtMs > Date.now()
    },
    /** @param client hexadecimal digits */
    async count(client: string): Promise<RequestQuota> {
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
