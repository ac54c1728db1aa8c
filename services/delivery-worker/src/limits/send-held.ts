import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { HeldEntry, HeldStore } from '@switchhook/store'

export interface SendHeldDeps {
  readonly held: Pick<HeldStore, 'read' | 'forget' | 'remove'>
  readonly publish: (delivery: Delivery) => Promise<void>
}

/** Held deliveries are read and published in parts of this size. */
export const SENT_AT_ONCE = 250

/**
 * Publishes the deliveries of entries and removes the entries. The messages and the entries go after the broker has confirmed.
 * @param isGone whether an entry goes; undefined: its delivery has gone on
 * @returns those that went
 */
export async function sendHeld(
  { held, publish }: SendHeldDeps,
  id: SubscriptionId,
  list: 'held' | 'leased',
  entries: readonly HeldEntry[],
  isGone: (delivery: Delivery | undefined) => boolean,
) {
  const messages = await held.read(entries.map(({ deliveryId }) => deliveryId))
  const gone = entries
    .map((entry, i) => ({ entry, delivery: messages[i]?.delivery }))
    .filter(({ delivery }) => isGone(delivery))
  const published = gone.flatMap(({ delivery }) => delivery ?? [])
  await Promise.all(published.map((delivery) => publish(delivery)))
  await held.forget(published)
  const ended = gone.map(({ entry }) => entry)
  await held.remove(id, list, ended)
  return gone
}
