import { type Delivery, envelopesOf, firstDeliveriesOf, type Subscription } from '@switchhook/contracts'
import type { JournalEntry, JournalReader } from '@switchhook/store'

/** Builds the body of a delivery from the journal: the same bytes as at the fan-out. Undefined: the journal does not have the event. */
export async function bodyFromJournal(
  journal: Pick<JournalReader, 'find'>,
  { tenant, eventId, deliveryId }: Pick<Delivery, 'tenant' | 'eventId' | 'deliveryId'>,
): Promise<Buffer | undefined> {
  const entry = await journal.find(tenant, eventId)
  if (entry === undefined || entry.dataJson === null) return undefined
  return envelopesOf({ ...entry, tenant }, entry.dataJson)(deliveryId)
}

/** The delivery of a journaled event that the tenant asked for, due at `nowMs`. Undefined: the journal does not have its data. */
export function requestedDelivery(
  entry: JournalEntry,
  subscription: Pick<Subscription, 'id' | 'url' | 'tenant'>,
  nowMs: number,
): Delivery | undefined {
  if (entry.dataJson === null) return undefined
  const event = { ...entry, tenant: subscription.tenant }
  const deliveryTo = firstDeliveriesOf(event, new Date(nowMs).toISOString(), entry.dataJson)
  return { ...deliveryTo(subscription), isRequested: true }
}
