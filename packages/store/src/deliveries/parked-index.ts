import { type Delivery, parseDeliveryId, type SubscriptionId } from '@switchhook/contracts'
import { parkedExtrasKey, parkedKey, parkedLimitKey } from '../keys.ts'
import { isoTime, type ScoredEntry } from '../paging.ts'
import { type Redis, runScript } from '../redis/redis.ts'
import type { StoredRecord } from './delivery-record.ts'
import { extraUnitsOf } from './tenant-sizes.ts'

/** The name of an entry includes the run, so that the end of one run never removes the entry of the next. */
type ParkedRun = Pick<Delivery, 'deliveryId' | 'subscriptionId' | 'run'>

export type ParkedEntry = Readonly<ReturnType<typeof toEntry>>

export const parkedKeys = (id: SubscriptionId): string[] => [parkedKey(id), parkedLimitKey(id), parkedExtrasKey(id)]

/** The list of a subscription's parked deliveries. Entries may be stale; a delivery's record decides if it is parked. */
export const createParkedIndex = (redis: Redis) => ({
  /** Resolves to the time of the first addition (ISO 8601, UTC), and the units that the list takes afterwards. */
  async add(delivery: ParkedRun & Pick<Delivery, 'body' | 'attempt'>, retentionMs: number) {
    const args = [memberOf(delivery), retentionMs, extraUnitsOf(delivery)]
    const [since, size] = await runScript(redis, 'deliveries/add-parked', parkedKeys(delivery.subscriptionId), args)
    return { parkedAt: isoTime(since), size }
  },
  async remove(delivery: ParkedRun): Promise<void> {
    const keys = [parkedKey(delivery.subscriptionId), parkedExtrasKey(delivery.subscriptionId)]
    await runScript(redis, 'deliveries/remove-parked', keys, [memberOf(delivery)])
  },
})

/** A redelivery that is not known to be published still counts as the parked run before it. */
export function isParked({ ledger }: Pick<StoredRecord, 'ledger'>, listed: Pick<ParkedEntry, 'run'>): boolean {
  if (ledger.state === 'parked') return ledger.run === listed.run
  return ledger.state === 'unsent' && ledger.run === listed.run + 1
}

const memberOf = ({ deliveryId, run }: ParkedRun): string => `${deliveryId}:${run}`

/** @returns `since`: when it was added, in µs, as Redis formats it; unique within a list */
export function toEntry({ member, since }: ScoredEntry) {
  const [deliveryId = '', run] = member.split(':')
  return { deliveryId: parseDeliveryId(deliveryId), run: Number(run), since }
}
