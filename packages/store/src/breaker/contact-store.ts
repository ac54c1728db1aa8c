import { contactKey, type Endpoint } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'
import { type AttemptResult, resultFromText, resultToText } from './breaker-store.ts'

/** When an endpoint last acknowledged a delivery and when an attempt last failed, in ms since 1970. */
export interface Contact {
  readonly successAtMs: number | null
  readonly failureAtMs: number | null
  readonly failure: AttemptResult | null
}

export type Contacts = Awaited<ReturnType<ContactStore['find']>>

/** After the last contact. Covers deleted subscriptions, whose keys nothing else removes. */
const REMEMBERED_MS = 90 * 86_400_000

export type ContactStore = ReturnType<typeof createContactStore>

/** The contact times that the api shows for a subscription. No decision depends on them. */
export const createContactStore = (redis: Redis) => ({
  /** Times older than the stored ones change nothing. */
  async record(endpoint: Endpoint, { successAtMs, failureAtMs, failure }: Contact): Promise<void> {
    const args = [successAtMs ?? '', failureAtMs ?? '', failure === null ? '' : resultToText(failure), REMEMBERED_MS]
    await runScript(redis, 'breaker/record-contact', [contactKey(endpoint)], args)
  },
  async find(endpoint: Endpoint) {
    const [successAt, failureAt, failure, failingSince] = await redis[execute]((commands) =>
      commands.hmget(contactKey(endpoint), 'successAt', 'failureAt', 'failure', 'failingSince'),
    )
    return {
      successAtMs: msOf(successAt),
      failureAtMs: msOf(failureAt),
      failure: failure == null ? null : resultFromText(failure),
      /** The first failure since the last success, to within the seconds between two writes. Null: the last contact was a success. */
      failingSinceMs: msOf(failingSince),
    }
  },
})

const msOf = (stored: string | null | undefined): number | null => (stored == null ? null : Number(stored))
