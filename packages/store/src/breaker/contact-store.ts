import { contactKey, type Endpoint, subscriptionsKey } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'
import { type AttemptResult, resultFromText, resultToText } from './breaker-store.ts'

/** When an endpoint last acknowledged a delivery and when an attempt last failed, in ms since 1970. */
export interface Contact {
  readonly successAtMs: number | null
  readonly failureAtMs: number | null
  readonly failure: AttemptResult | null
}

export type Contacts = Awaited<ReturnType<ContactStore['find']>>

/** After the last contact. */
const REMEMBERED_MS = 90 * 86_400_000

export type ContactStore = ReturnType<typeof createContactStore>

/** The contact times that the api shows for a subscription. No decision depends on them. */
export const createContactStore = (redis: Redis) => ({
  /** Times older than the stored ones change nothing, and neither do those of a deleted subscription. */
  async record(endpoint: Endpoint, { successAtMs, failureAtMs, failure }: Contact): Promise<void> {
    const { tenant, subscriptionId } = endpoint
    const times = [successAtMs ?? '', failureAtMs ?? '', failure === null ? '' : resultToText(failure)]
    const keys = [contactKey(endpoint), subscriptionsKey(tenant)]
    await runScript(redis, 'breaker/record-contact', keys, [...times, REMEMBERED_MS, subscriptionId])
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
