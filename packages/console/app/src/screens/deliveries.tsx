import { Screen } from '../ui/parts.tsx'
import { DeliveryList } from './delivery-list.tsx'

/** The deliveries of all endpoints. */
export const Deliveries = () => (
  <Screen title="Deliveries" lead="One delivery is one event for one endpoint.">
    <DeliveryList />
  </Screen>
)
