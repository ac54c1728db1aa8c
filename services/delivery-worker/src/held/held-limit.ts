import type { Logger } from '@switchhook/runtime'
import type { DeliveryStore, HeldExcess, HeldStore } from '@switchhook/store'
import type { Notices } from '../notices/notices.ts'
import type { AfterSettled } from '../pipeline/pipeline.ts'

export interface HeldLimitDeps {
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly deliveries: Pick<DeliveryStore, 'park' | 'listAgain'>
  readonly notices: Pick<Notices, 'noticeParked' | 'noticeIfParked'>
  readonly log: Pick<Logger, 'info'>
}

export type HeldLimit = ReturnType<typeof createHeldLimit>

/** Parks held deliveries that exceed a limit. */
export function createHeldLimit({ held, deliveries, notices, log }: HeldLimitDeps) {
  /**
   * Parks held deliveries that were claimed because of a limit; the limits of parked deliveries then apply to them. Their entries
   * go after the notices, so that the visit that finds them repeats what is missing.
   */
  async function parkExcess(excess: readonly HeldExcess[]): Promise<void> {
    for (const { tenant, subscriptionId, entries } of excess) {
      log.info('held deliveries exceed their limit', { tenant, subscriptionId, parked: entries.length })
      const messages = await held.read(entries.map(({ deliveryId }) => deliveryId))
      await Promise.all(
        entries.map(async (entry, i) => {
          const delivery = messages[i]?.delivery
          if (delivery === undefined) await notices.noticeIfParked(entry)
          else {
            await deliveries.park(delivery, null, 'exhausted', 'held-limit')
            await notices.noticeParked(delivery)
          }
          await held.remove(subscriptionId, 'parking', [entry])
        }),
      )
    }
  }

  /** Lists a held delivery again, and parks what then exceeds a limit. */
  const listAgain = async (message: Parameters<DeliveryStore['listAgain']>[0]): Promise<void> =>
    parkExcess(await deliveries.listAgain(message))

  const afterSettled: AfterSettled = ({ delivery, written }) =>
    written === undefined ? listAgain(delivery) : parkExcess(written.excess)

  return { parkExcess, listAgain, afterSettled }
}
