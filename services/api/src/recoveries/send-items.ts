import { type DeliveryId, type RecoveryId, type Subscription, Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { DeliveryArchive } from '@switchhook/store'
import type { SendAgain } from '../deliveries/send-again.ts'
import type { BatchResult, Item } from './recovery.ts'

export interface SendItemsDeps {
  readonly sendAgain: SendAgain
  readonly deliveries: Pick<DeliveryArchive, 'redeliverySent' | 'find'>
  readonly log: Pick<Logger, 'warn'>
}

export interface SendRequest {
  readonly items: readonly Item[]
  /** The sender of the new runs: the id is unique to this recovery. */
  readonly recoveryId: RecoveryId
  readonly subscription: Pick<Subscription, 'url' | 'signing'>
  /** An earlier step may have sent some of the items. */
  readonly isRepeated: boolean
  /** Asked before each chunk: false if another replica has taken over, or the recovery was cancelled. */
  readonly mayContinue: () => Promise<boolean>
}

/** Items that are sent concurrently. A cancelled recovery sends at most these. */
const CHUNK = 10

type ItemResult = 'sent' | 'skipped' | 'failed' | 'not-sent'

/**
 * Sends parked deliveries again, each as a new run. It can be repeated with the same items: a run that was begun is
 * published as the same run, and a delivery that has moved on or was parked again is left alone.
 * @throws Unavailable if Redis is away; the results are unknown then
 */
export function createSendItems(deps: SendItemsDeps): (request: SendRequest) => Promise<BatchResult> {
  async function send(
    { deliveryId, run }: Item,
    { recoveryId, subscription, isRepeated }: SendRequest,
  ): Promise<ItemResult> {
    const { kind } = await deps.sendAgain(deliveryId, { sender: recoveryId, parkedRun: run }, subscription)
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
        return isRepeated && (await wasSent(deliveryId, run)) ? 'sent' : 'skipped'
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
