import { type CallRouteDeps, createCallRoutes } from './calls/call-routes.ts'
import { createDeliveryRoutes, type DeliveryRoutesDeps } from './deliveries/delivery-routes.ts'
import type { Route } from './http/route.ts'
import { withDocument } from './openapi/with-document.ts'
import { createSubscriptionRoutes, type SubscriptionRoutesDeps } from './subscriptions/subscription-routes.ts'

export type RoutesDeps = SubscriptionRoutesDeps & DeliveryRoutesDeps & CallRouteDeps

/** Everything that the API answers, in the order of its document. */
export function createRoutes(deps: RoutesDeps): readonly Route[] {
  return withDocument([...createSubscriptionRoutes(deps), ...createDeliveryRoutes(deps), ...createCallRoutes(deps)])
}
