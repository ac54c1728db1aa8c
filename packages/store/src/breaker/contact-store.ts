import { contactKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { type AttemptResult, type Endpoint, resultFromText, resultToText } from './breaker-store.ts'

/** When an endpoint last acknowledged a delivery and when an attempt last failed, in ms since 1970. */
export interface Contact {
  readonly successAtMs: number | null
  readonly failureAtMs: number | null
  readonly failure: AttemptResult | null
}

/** The contact times that the api shows for a subscription. No decision depends on them. */
export interface ContactStore {
  /** Times older than the stored ones change nothing. */
  note(endpoint: Endpoint, contact: Contact): Promise<void>
  find(endpoint: Endpoint): Promise<Contact>
}

/** After the last contact. Covers deleted subscriptions, whose keys nothing else removes. */
const REMEMBERED_MS = 90 * 86_400_000

export function createContactStore(redis: Redis): ContactStore {
  return {
    async note({ tenant, subscriptionId }, { successAtMs, failureAtMs, failure }) {
      const args = [successAtMs ?? '', failureAtMs ?? '', failure === null ? '' : resultToText(failure), REMEMBERED_MS]
      const keys = [contactKey(tenant, subscriptionId)]
      await redis[run]((commands) => commands.runScript('breaker/note-contact', keys, args))
    },
    async find({ tenant, subscriptionId }) {
      const [successAt, failureAt, failure] = await redis[run]((commands) =>
        commands.hmget(contactKey(tenant, subscriptionId), 'successAt', 'failureAt', 'failure'),
      )
      return {
        successAtMs: successAt == null ? null : Number(successAt),
        failureAtMs: failureAt == null ? null : Number(failureAt),
        failure: failure == null ? null : resultFromText(failure),
      }
    },
  }
}
