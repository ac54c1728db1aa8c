import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { HeldEntry, HeldStore } from '@switchhook/store'

export interface PublishHeldDeps {
  readonly held: Pick<HeldStore, 'read' | 'forget' | 'remove'>
  readonly publish: (delivery: Delivery) => Promise<void>
}

/** Held deliveries are read and published in parts of this size. */
export const PUBLISHED_AT_ONCE = 250

/**
 * Publishes the deliveries of entries and removes the entries. The messages and the entries go after the broker has confirmed.
 * @param goesOn whether the delivery of an entry does; undefined: it has already
 * @returns the entries that were removed, with their deliveries
 */
export async function publishHeld(
  { held, publish }: PublishHeldDeps,
  id: SubscriptionId,
  list: 'held' | 'leased',
  entries: readonly HeldEntry[],
  goesOn: (delivery: Delivery | undefined) => boolean,
) {
  const messages = await held.read(entries.map(({ deliveryId }) => deliveryId))
  const going = entries
    .map((entry, i) => ({ entry, delivery: messages[i]?.delivery }))
    .filter(({ delivery }) => goesOn(delivery))
  const published = going.flatMap(({ delivery }) => delivery ?? [])
  await Promise.all(published.map((delivery) => publish(delivery)))
  await held.forget(published)
  const ended = going.map(({ entry }) => entry)
  await held.remove(id, list, ended)
  return going
}
