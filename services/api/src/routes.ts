import { type AgentRouteDeps, createAgentRoutes } from './agents/agent-routes.ts'
import { type AuditRoutesDeps, createAuditRoutes } from './audit/audit-routes.ts'
import { createCallRoutes } from './calls/call-routes.ts'
import type { CallRouteDeps } from './calls/commands.ts'
import { createDeliveryRoutes, type DeliveryRoutesDeps } from './deliveries/delivery-routes.ts'
import type { Route } from './http/route.ts'
import { withDocument } from './openapi/with-document.ts'
import { createSimulatorRoutes, type SimulatorRouteDeps } from './simulator/simulator-routes.ts'
import { createSubscriptionRoutes, type SubscriptionRoutesDeps } from './subscriptions/subscription-routes.ts'

export type RoutesDeps = SubscriptionRoutesDeps &
  DeliveryRoutesDeps &
  CallRouteDeps &
  AgentRouteDeps &
  AuditRoutesDeps & {
    /** null: its development endpoints are not served. */
    readonly simulator: SimulatorRouteDeps['simulator'] | null
  }

/** Everything that the API answers, in the order of its document. */
export function createRoutes({ simulator, ...deps }: RoutesDeps): readonly Route[] {
  return withDocument([
    ...createSubscriptionRoutes(deps),
    ...createDeliveryRoutes(deps),
    ...createCallRoutes(deps),
    ...createAgentRoutes(deps),
    ...createAuditRoutes(deps),
    ...(simulator === null ? [] : createSimulatorRoutes({ simulator })),
  ])
}
