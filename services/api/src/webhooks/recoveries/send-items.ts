import { type DeliveryId, type Subscription, Unavailable } from '@switchhook/contracts'
import { requestedDelivery } from '../deliveries/event-body.ts'
import { sendAgain } from '../deliveries/send-again.ts'
import type { Item, ItemResult, Recovery } from './recovery.ts'
import type { RecoveriesDeps } from './recovery-book.ts'

/** The items of one step of a recovery. */
export interface Batch {
  /** They are sent concurrently. */
  readonly items: readonly Item[]
  /** The sender of the new runs: its id is unique to this recovery. */
  readonly recovery: Pick<Recovery, 'recoveryId' | 'startedBy'>
  readonly subscription: Subscription
  /** An earlier step may have sent some of the items. */
  readonly isRepeated: boolean
}

/**
 * Sends parked deliveries again, each as a new run, or the new deliveries of a backfill. It can be repeated with the same
 * items: a run that was begun is published as the same run, and a delivery that has moved on or was parked again is left
 * alone. Rejects with Unavailable if Redis is away; the results are unknown then.
 */
export async function sendItems(
  deps: RecoveriesDeps,
  { items, recovery: { recoveryId: sender, startedBy }, subscription, isRepeated }: Batch,
): Promise<ReadonlyMap<DeliveryId, ItemResult>> {
  const publishAutomatic: typeof deps.publish = (delivery) => deps.publish({ ...delivery, isAutomatic: true })
  const sending = startedBy === 'request' ? deps : { ...deps, publish: publishAutomatic }

  async function send({ deliveryId, run: parkedRun, journalId }: Item) {
    const by = { sender, parkedRun }
    if (journalId === undefined) return (await sendAgain(sending, deliveryId, by, subscription)).kind
    // The event of a backfill, unless the subscription has a delivery of it.
    const entry = await deps.journal.read(subscription.tenant, journalId)
    const fresh = entry && requestedDelivery(entry, subscription, deps.now())
    if (fresh === undefined) return 'without-body'
    return (await sendAgain(deps, deliveryId, by, subscription, { which: 'new', body: fresh.body, fresh })).kind
  }

  /** Whether the interrupted step has sent it. That step may have died before it removed the delivery from the list. */
  async function wasSent({ deliveryId, run: parkedRun }: Item): Promise<boolean> {
    const found = await deps.deliveries.find(deliveryId)
    if (found === undefined || found.run <= parkedRun) return false
    if (found.run === parkedRun + 1) await deps.deliveries.redeliverySent(found)
    return true
  }

  async function resultOf(item: Item): Promise<ItemResult> {
    try {
      const kind = await send(item)
      if (kind === 'sent') return 'sent'
      // Another sender is publishing it. If that one fails, the delivery stays parked.
      if (kind === 'busy') return 'skipped'
      if (kind === 'not-parked') return isRepeated && (await wasSent(item)) ? 'sent' : 'skipped'
      return 'failed'
    } catch (error) {
      if (error instanceof Unavailable && error.dependency === 'rabbitmq') return 'not-sent'
      if (error instanceof Unavailable) throw error
      // A delivery that can never be sent must not stop the others.
      deps.log.warn('a parked delivery could not be sent again', { deliveryId: item.deliveryId, error })
      return 'failed'
    }
  }

  return new Map(await Promise.all(items.map(async (item) => [item.deliveryId, await resultOf(item)] as const)))
}
