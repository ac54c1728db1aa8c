import { type Client, NoAnswer, type Schemas, SignInFailed, SwitchhookError } from '@switchhook/client'

export type Delivery = Schemas['ReceivedDelivery']

const MAX = 100

/** A `store` rejects with it if the other queue is there, but does not take this delivery. */
export class Refused extends Error {}

/**
 * Moves the deliveries of a pull subscription until the signal is aborted. Each is acknowledged once `store` has kept it. A
 * delivery that `store` rejects is retried on the schedule, as after a 503. If it keeps none, and not all are `Refused`, the
 * other queue is away: the rest is given back, so that an outage uses up no attempts.
 * @throws SwitchhookError if the subscription is gone or the token may not receive; SignInFailed if the identity provider
 *   refuses the client; the first other error of `store` if the other queue is away
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
      const results = await Promise.allSettled(items.map(store))
      const outage = results.some(({ status }) => status === 'fulfilled') ? undefined : results.find(isOutage)
      const outcomes = items.map(({ deliveryId, leaseToken }, i) => ({
        deliveryId,
        leaseToken,
        ...(outage && isOutage(results[i])
          ? { release: true }
          : { status: results[i]?.status === 'fulfilled' ? 200 : 503 }),
      }))
      await subscriptions.report(subscriptionId, { items: outcomes })
      if (outage) throw outage.reason as Error
    } catch (error) {
      if (signal.aborted) return
      // Deliveries without a reported outcome come again when their lease ends.
      if (!isPassing(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
}

const isOutage = (result: PromiseSettledResult<void> | undefined): result is PromiseRejectedResult =>
  result?.status === 'rejected' && !(result.reason instanceof Refused)

/** Of an api or an identity provider that does not answer, or asks to wait. */
const isPassing = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  ((error instanceof SwitchhookError || error instanceof SignInFailed) && (error.status ?? 503) >= 429)
