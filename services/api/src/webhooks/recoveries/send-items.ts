import { type DeliveryId, type RecoveryId, type Subscription, Unavailable } from '@switchhook/contracts'
import { requestedDelivery } from '../deliveries/event-body.ts'
import { createSendAgain, type SentAgain } from '../deliveries/send-again.ts'
import type { RecoveriesDeps } from './recoveries-deps.ts'
import type { Item, ItemResult, Recovery } from './recovery.ts'

interface SendRequest {
  /** They are sent concurrently. */
  readonly items: readonly Item[]
  /** The sender of the new runs: the id is unique to this recovery. */
  readonly recoveryId: RecoveryId
  readonly startedBy?: Recovery['startedBy']
  readonly subscription: Pick<Subscription, 'id' | 'tenant' | 'url' | 'signing'>
  /** An earlier step may have sent some of the items. */
  readonly isRepeated: boolean
}

type SendItems = (request: SendRequest) => Promise<ReadonlyMap<DeliveryId, ItemResult>>

/**
 * Sends parked deliveries again, each as a new run, or the new deliveries of a backfill. It can be repeated with the same
 * items: a run that was begun is published as the same run, and a delivery that has moved on or was parked again is left
 * alone. Rejects with Unavailable if Redis is away; the results are unknown then.
 */
export function createSendItems(deps: RecoveriesDeps): SendItems {
  const sendAgain = createSendAgain(deps)
  const publish: typeof deps.publish = (delivery) => deps.publish({ ...delivery, isAutomatic: true })
  const sendAutomatically = createSendAgain({ ...deps, publish })

  /** Sends the event of a backfill, unless the subscription has a delivery of it. */
  async function sendNew(item: Item, { recoveryId, subscription }: SendRequest): Promise<SentAgain['kind']> {
    const entry = await deps.journal.read(subscription.tenant, item.journalId ?? '')
    const fresh = entry && requestedDelivery(entry, subscription, deps.now())
    if (fresh === undefined) return 'without-body'
    const by = { sender: recoveryId, parkedRun: item.run }
    const sendable = { which: 'new', body: fresh.body, fresh } as const
    const { kind } = await sendAgain(item.deliveryId, by, subscription, sendable)
    if (kind === 'sent') await deps.deliveries.list(fresh)
    return kind
  }

  async function sendParked({ deliveryId, run }: Item, { recoveryId, startedBy, subscription }: SendRequest) {
    const sending = startedBy === undefined ? sendAgain : sendAutomatically
    const { kind } = await sending(deliveryId, { sender: recoveryId, parkedRun: run }, subscription)
    return kind
  }

  /** Whether the interrupted step has sent it. That step may have died before it removed the delivery from the list. */
  async function wasSent({ deliveryId, run: parkedRun }: Item): Promise<boolean> {
    const found = await deps.deliveries.find(deliveryId)
    if (found === undefined || found.run <= parkedRun) return false
    if (found.run === parkedRun + 1) await deps.deliveries.redeliverySent(found)
    return true
  }

  async function resultOf(item: Item, request: SendRequest): Promise<ItemResult> {
    try {
      const kind = await (item.journalId === undefined ? sendParked(item, request) : sendNew(item, request))
      if (kind === 'sent') return 'sent'
      // Another sender is publishing it. If that one fails, the delivery stays parked.
      if (kind === 'busy') return 'skipped'
      if (kind === 'not-parked') return request.isRepeated && (await wasSent(item)) ? 'sent' : 'skipped'
      return 'failed'
    } catch (error) {
      if (error instanceof Unavailable && error.dependency === 'rabbitmq') return 'not-sent'
      if (error instanceof Unavailable) throw error
      // A delivery that can never be sent must not stop the others.
      deps.log.warn('a parked delivery could not be sent again', { deliveryId: item.deliveryId, error })
      return 'failed'
    }
  }

  return async (request) => {
    const results = request.items.map(async (item) => [item.deliveryId, await resultOf(item, request)] as const)
    return new Map(await Promise.all(results))
  }
}
