import { randomUUID } from 'node:crypto'
import { AppError, type Subscription } from '@switchhook/contracts'
import type { DeliveryArchive, DeliveryRecord, Redeliverer } from '@switchhook/store'
import type { SendAgain } from './send-again.ts'

export interface RedeliverDeps {
  readonly findSubscription: (record: DeliveryRecord) => Promise<Subscription | undefined>
  readonly find: DeliveryArchive['find']
  readonly note: DeliveryArchive['noteRedelivery']
  readonly sendAgain: SendAgain
}

/** @param requestId the same whenever the request is carried out again; undefined: it never is */
export type Redeliver = (found: DeliveryRecord, requestId: string | undefined) => Promise<DeliveryRecord>

/**
 * Sends a parked delivery again: a new run of the schedule, to the subscription's present url, with the same id and body;
 * the count of attempts goes on. Resolves to the delivery's new state once the broker has confirmed it. When a step fails,
 * the delivery stays parked and can be sent again; at worst the endpoint gets it twice. A repeated request sends the run
 * that it first sent, or none: a delivery that was parked again meanwhile stays parked. Of concurrent requests one sends.
 * @throws AppError `delivery-not-parked`, `delivery-without-body`, `subscription-deleted` or `subscription-disabled`; Unavailable
 */
export function createRedeliver(deps: RedeliverDeps): Redeliver {
  async function send(parked: DeliveryRecord, by: Redeliverer): Promise<DeliveryRecord> {
    if (parked.state !== 'parked') throw new AppError('delivery-not-parked')
    const subscription = await deps.findSubscription(parked)
    if (subscription === undefined) throw new AppError('subscription-deleted')
    if (!subscription.enabled) throw new AppError('subscription-disabled')
    const sent = await deps.sendAgain(parked.deliveryId, by, subscription)
    switch (sent.kind) {
      case 'sent':
        return sent.record
      case 'unknown':
        throw new AppError('delivery-not-found')
      case 'without-body':
        throw new AppError('delivery-without-body')
      case 'not-parked':
        throw new AppError('delivery-not-parked')
      case 'busy':
        throw new AppError('delivery-not-parked', { detail: 'It is being sent again right now' })
    }
  }

  return async (found, requestId) => {
    if (requestId === undefined) return send(found, { sender: randomUUID() })
    const { deliveryId, state, run } = found
    const noted = await deps.note(deliveryId, requestId, state === 'parked' ? run : undefined)
    const sender = requestId
    if (noted === undefined) return send(found, { sender })
    const by = { sender, parkedRun: noted.parkedRun }
    if (noted.isNew) return send(found, by)
    // Before it died, or lost its way to Redis or the broker.
    const isSent = state !== 'parked' || run !== noted.parkedRun
    if (isSent) return found
    return send(found, by).catch(async (error: unknown) => {
      // A worker has been faster with what was published then.
      if (error instanceof AppError && error.code === 'delivery-not-parked')
        return (await deps.find(deliveryId)) ?? found
      throw error
    })
  }
}
