import { type Client, NoAnswer, type Schemas, SwitchhookError } from '@switchhook/client'

export type Delivery = Schemas['ReceivedDelivery']

const MAX = 100

/**
 * Moves the deliveries of a pull subscription until the signal is aborted. Each is acknowledged once `store` has kept it. A
 * delivery that `store` rejects is retried on the schedule, as after a 503.
 * @throws SwitchhookError if the subscription is gone or the token may not receive
 */
export async function moveDeliveries(
  { subscriptions }: Client,
  subscriptionId: string,
  store: (delivery: Delivery) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { items } = await subscriptions.receive(subscriptionId, { max: MAX, leaseSeconds: 60 }, { signal })
      if (items.length === 0) continue
      const stored = await Promise.allSettled(items.map(store))
      const outcomes = items.map(({ deliveryId, leaseToken }, i) => {
        return { deliveryId, leaseToken, status: stored[i]?.status === 'fulfilled' ? 200 : 503 }
      })
      await subscriptions.report(subscriptionId, { items: outcomes })
    } catch (error) {
      if (signal.aborted) return
      // Deliveries without a reported outcome come again when their lease ends.
      const isPassing = error instanceof NoAnswer || (error instanceof SwitchhookError && error.status >= 429)
      if (!isPassing) throw error
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}
