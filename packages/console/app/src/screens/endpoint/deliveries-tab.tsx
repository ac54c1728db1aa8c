import type { Subscription } from '../../api/model.ts'
import { DeliveryList } from '../delivery-list.tsx'

/** The deliveries of one endpoint, with filters. */
export function DeliveriesTab({ subscription }: { readonly subscription: Subscription }) {
  return <DeliveryList subscriptionId={subscription.id} />
}
