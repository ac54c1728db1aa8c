import type { Delivery } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { DeliveryArchive, DeliveryStore, HeldExcess, HeldStore } from '@switchhook/store'

export interface ParkExcessDeps {
  readonly deliveries: Pick<DeliveryStore, 'park'>
  /** See `Notices.noticeParked`. */
  readonly noticeParked: (delivery: Delivery) => Promise<void>
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly log: Pick<Logger, 'info'>
}

/**
 * Parks held deliveries that were claimed because of a limit; the limits of parked deliveries then apply to them. Their entries
 * go after the notices: if the worker dies, or RabbitMQ is away, the look that finds them repeats what is missing.
 */
export function createParkExcess(deps: ParkExcessDeps) {
  const { held, deliveries, noticeParked, log } = deps
  return async (excess: readonly HeldExcess[]): Promise<void> => {
    for (const { tenant, subscriptionId, entries } of excess) {
      log.info('held deliveries exceed their limit', { tenant, subscriptionId, parked: entries.length })
      const messages = await held.read(entries.map(({ deliveryId }) => deliveryId))
      await Promise.all(
        entries.map(async (entry, i) => {
          const delivery = messages[i]?.delivery
          if (delivery === undefined) await noticeIfParked(deps, entry)
          else {
            await deliveries.park(delivery, null, 'exhausted', 'held-limit')
            await noticeParked(delivery)
          }
          await held.remove(subscriptionId, 'parking', [entry])
        }),
      )
    }
  }
}

/** Repeats the notice of a delivery that is parked. */
export async function noticeIfParked(
  { archive, noticeParked }: Pick<ParkExcessDeps, 'archive' | 'noticeParked'>,
  { deliveryId }: Pick<Delivery, 'deliveryId'>,
): Promise<void> {
  const found = await archive.find(deliveryId)
  if (found?.state === 'parked') await noticeParked({ ...found, body: found.body ?? Buffer.alloc(0) })
}
