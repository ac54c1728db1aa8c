import { contactKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { Endpoint } from './breaker-store.ts'
import { type AttemptResult, fromText, toText } from './failure-text.ts'

/** When an endpoint last acknowledged a delivery, and last did not. ms since 1970. */
export interface Contact {
  readonly successAtMs: number | null
  readonly failureAtMs: number | null
  readonly failure: AttemptResult | null
}

/** For people who look at a subscription; nothing is decided by it. */
export interface ContactStore {
  /** What is older than what is known changes nothing. */
  note(endpoint: Endpoint, contact: Contact): Promise<void>
  find(endpoint: Endpoint): Promise<Contact>
}

/** Of an endpoint that is not contacted any more, its subscription being deleted for example. */
const REMEMBERED_MS = 90 * 86_400_000

export function createContactStore(redis: Redis): ContactStore {
  return {
    async note({ tenant, subscriptionId }, { successAtMs, failureAtMs, failure }) {
      const args = [successAtMs ?? '', failureAtMs ?? '', failure === null ? '' : toText(failure), REMEMBERED_MS]
      await redis[run]((commands) =>
        commands.runScript('breaker/note-contact', [contactKey(tenant, subscriptionId)], args),
      )
    },
    async find({ tenant, subscriptionId }) {
      const [successAt, failureAt, failure] = await redis[run]((commands) =>
        commands.hmget(contactKey(tenant, subscriptionId), 'successAt', 'failureAt', 'failure'),
      )
      return {
        successAtMs: successAt == null ? null : Number(successAt),
        failureAtMs: failureAt == null ? null : Number(failureAt),
        failure: failure == null ? null : fromText(failure),
      }
    },
  }
}
