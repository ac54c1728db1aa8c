import type { Client } from '@switchhook/client'

/** Parks the deliveries that are due now, so that they can be sent after all. @returns how many */
export async function skipBacklog({ subscriptions }: Client, id: string): Promise<number> {
  let skipped = 0
  let backlog: number | undefined
  for (;;) {
    const { items, held } = await subscriptions.receive(id, { max: 100, waitSeconds: 0, leaseSeconds: 60 })
    backlog ??= items.length + held
    if (items.length > 0) {
      // 410: gone. The answer is shown with the attempt.
      await subscriptions.report(id, {
        items: items.map(({ deliveryId, leaseToken }) => ({
          deliveryId,
          leaseToken,
          status: 410,
          answer: 'Skipped by switchhook listen --skip-backlog',
        })),
      })
    }
    skipped += items.length
    // Later deliveries are not part of the backlog.
    if (items.length === 0 || skipped >= backlog) return skipped
  }
}
