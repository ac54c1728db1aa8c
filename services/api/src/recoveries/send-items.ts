import { type DeliveryId, type RecoveryId, type Subscription, Unavailable } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { DeliveryArchive } from '@switchhook/store'
import type { SendAgain } from '../deliveries/send-again.ts'
import type { Item, Sending } from './recovery.ts'

export interface SendItemsDeps {
  readonly sendAgain: SendAgain
  readonly deliveries: Pick<DeliveryArchive, 'redeliverySent' | 'find'>
  readonly log: Pick<Logger, 'warn'>
}

export interface Errand {
  readonly items: readonly Item[]
  /** As whom it sends: no other recovery, and nobody else, has this id. */
  readonly recoveryId: RecoveryId
  readonly subscription: Pick<Subscription, 'url' | 'signing'>
  /** A former turn may have sent some of them. */
  readonly isRepeated: boolean
  /** Asked before each handful: has nobody else taken over, and has nobody cancelled? */
  readonly mayGoOn: () => Promise<boolean>
}

/** So many at once: a cancelled recovery sends no more than those. */
const HANDFUL = 10

type Fate = 'sent' | 'skipped' | 'failed' | 'held'

/**
 * Sends parked deliveries again, each as a new run. Repeating it with the same items is harmless: a run that was begun is
 * the one that is published, and what has gone on since is left alone. So is what was parked anew.
 * @throws Unavailable without Redis; then nobody knows how far it came
 */
export function createSendItems(deps: SendItemsDeps): (errand: Errand) => Promise<Sending> {
  async function send({ deliveryId, run }: Item, { recoveryId, subscription, isRepeated }: Errand): Promise<Fate> {
    const { kind } = await deps.sendAgain(deliveryId, { sender: recoveryId, parkedRun: run }, subscription)
    switch (kind) {
      case 'sent':
        return 'sent'
      case 'unknown':
      case 'without-body':
        return 'failed'
      case 'busy':
        // If its sender fails, the delivery stays parked.
        return 'skipped'
      case 'not-parked':
        return isRepeated && (await wasSent(deliveryId, run)) ? 'sent' : 'skipped'
    }
  }

  /** By the turn that was broken off: it may have died before it could take the delivery from the list. */
  async function wasSent(deliveryId: DeliveryId, parkedRun: number): Promise<boolean> {
    const found = await deps.deliveries.find(deliveryId)
    if (found === undefined || found.run <= parkedRun) return false
    if (found.run === parkedRun + 1) await deps.deliveries.redeliverySent(found)
    return true
  }

  async function fateOf(item: Item, errand: Errand): Promise<Fate> {
    try {
      return await send(item, errand)
    } catch (error) {
      if (error instanceof Unavailable && error.dependency === 'rabbitmq') return 'held'
      if (error instanceof Unavailable) throw error
      // One that can never be sent must not keep the others from being sent.
      deps.log.warn('a parked delivery could not be sent again', { deliveryId: item.deliveryId, error })
      return 'failed'
    }
  }

  return async (errand) => {
    const { items, mayGoOn } = errand
    const fates: Fate[] = []
    while (fates.length < items.length && !fates.includes('held') && (await mayGoOn())) {
      const handful = items.slice(fates.length, fates.length + HANDFUL)
      fates.push(...(await Promise.all(handful.map((item) => fateOf(item, errand)))))
    }
    const those = (fate: Fate): Item[] => items.filter((_, i) => fates[i] === fate)
    return {
      sent: those('sent'),
      skipped: those('skipped'),
      failed: those('failed'),
      isBrokerAway: fates.includes('held'),
    }
  }
}
