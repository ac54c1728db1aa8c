import { type DeliveryId, type RecoveryId, type Subscription, Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { DeliveryArchive, JournalReader } from '@switchhook/store'
import { requestedDelivery } from '../deliveries/event-body.ts'
import type { SendAgain, SentAgain } from '../deliveries/send-again.ts'
import type { BatchResult, Item } from './recovery.ts'

export interface SendItemsDeps {
  readonly sendAgain: SendAgain
  readonly deliveries: Pick<DeliveryArchive, 'redeliverySent' | 'find' | 'list'>
  readonly journal: Pick<JournalReader, 'read'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly log: Pick<Logger, 'warn'>
}

export interface SendRequest {
  readonly items: readonly Item[]
  /** The sender of the new runs: the id is unique to this recovery. */
  readonly recoveryId: RecoveryId
  readonly subscription: Pick<Subscription, 'id' | 'tenant' | 'url' | 'signing'>
  /** An earlier step may have sent some of the items. */
  readonly isRepeated: boolean
  /** Asked before each chunk: false if another replica has taken over, or the recovery was cancelled. */
  readonly mayContinue: () => Promise<boolean>
}

/** Items that are sent concurrently. A cancelled recovery sends at most these. */
const CHUNK = 10

type ItemResult = 'sent' | 'skipped' | 'failed' | 'not-sent'

/**
 * Sends parked deliveries again, each as a new run, or the new deliveries of a backfill. It can be repeated with the same items: a run that was begun is
 * published as the same run, and a delivery that has moved on or was parked again is left alone.
 * @throws Unavailable if Redis is away; the results are unknown then
 */
export function createSendItems(deps: SendItemsDeps): (request: SendRequest) => Promise<BatchResult> {
  /** Sends the event of a backfill, unless the subscription has a delivery of it. */
  async function sendNew(item: Item, { recoveryId, subscription }: SendRequest): Promise<SentAgain['kind']> {
    const entry = await deps.journal.read(subscription.tenant, item.journalId ?? '')
    const fresh = entry && requestedDelivery(entry, subscription, deps.now())
    if (fresh === undefined) return 'without-body'
    const by = { sender: recoveryId, parkedRun: item.run }
    const sendable = { which: 'new', body: fresh.body, fresh } as const
    const { kind } = await deps.sendAgain(item.deliveryId, by, subscription, sendable)
    if (kind === 'sent') await deps.deliveries.list(fresh)
    return kind
  }

  async function sendParked({ deliveryId, run }: Item, { recoveryId, subscription }: SendRequest) {
    const { kind } = await deps.sendAgain(deliveryId, { sender: recoveryId, parkedRun: run }, subscription)
    return kind
  }

  async function send(item: Item, request: SendRequest): Promise<ItemResult> {
    const { deliveryId, run } = item
    const kind = await (item.journalId === undefined ? sendParked(item, request) : sendNew(item, request))
    switch (kind) {
      case 'sent':
        return 'sent'
      case 'unknown':
      case 'without-body':
        return 'failed'
      case 'busy':
        // Another sender has it. If that one fails, the delivery stays parked.
        return 'skipped'
      case 'not-parked':
        return request.isRepeated && (await wasSent(deliveryId, run)) ? 'sent' : 'skipped'
    }
  }

  /** Whether the interrupted step has sent it. That step may have died before it removed the delivery from the list. */
  async function wasSent(deliveryId: DeliveryId, parkedRun: number): Promise<boolean> {
    const found = await deps.deliveries.find(deliveryId)
    if (found === undefined || found.run <= parkedRun) return false
    if (found.run === parkedRun + 1) await deps.deliveries.redeliverySent(found)
    return true
  }

  async function resultOf(item: Item, request: SendRequest): Promise<ItemResult> {
    try {
      return await send(item, request)
    } catch (error) {
      if (error instanceof Unavailable && error.dependency === 'rabbitmq') return 'not-sent'
      if (error instanceof Unavailable) throw error
      // A delivery that can never be sent must not stop the others.
      deps.log.warn('a parked delivery could not be sent again', { deliveryId: item.deliveryId, error })
      return 'failed'
    }
  }

  return async (request) => {
    const { items, mayContinue } = request
    const results: ItemResult[] = []
    while (results.length < items.length && !results.includes('not-sent') && (await mayContinue())) {
      const chunk = items.slice(results.length, results.length + CHUNK)
      results.push(...(await Promise.all(chunk.map((item) => resultOf(item, request)))))
    }
    const itemsWith = (result: ItemResult): Item[] => items.filter((_, i) => results[i] === result)
    return {
      sent: itemsWith('sent'),
      skipped: itemsWith('skipped'),
      failed: itemsWith('failed'),
      isBrokerAway: results.includes('not-sent'),
    }
  }
}
