import { type AgentRouteDeps, createAgentRoutes } from './agents/agent-routes.ts'
import { type AuditRoutesDeps, createAuditRoutes } from './audit/audit-routes.ts'
import { createCallRoutes } from './calls/call-routes.ts'
import type { CallRouteDeps } from './calls/commands.ts'
import { createDeliveryRoutes, type DeliveryRoutesDeps } from './deliveries/delivery-routes.ts'
import { createEventListRoute, type EventListRouteDeps } from './deliveries/event-list-route.ts'
import { createExplainRoute, type ExplainRouteDeps } from './deliveries/explain-route.ts'
import type { Route } from './http/route.ts'
import { withDocument } from './openapi/with-document.ts'
import { createSimulatorRoutes, type SimulatorRouteDeps } from './platform/simulator/simulator-routes.ts'
import { createRecoveryRoutes, type RecoveryRouteDeps } from './recoveries/recovery-routes.ts'
import { createEventTypeRoutes } from './subscriptions/event-type-routes.ts'
import { createRotateRoute, type RotateRouteDeps } from './subscriptions/rotate-route.ts'
import { createSubscriptionRoutes, type SubscriptionRoutesDeps } from './subscriptions/subscription-routes.ts'
import { createTrialRoutes, type TrialRoutesDeps } from './trials/trial-routes.ts'

export type RoutesDeps = SubscriptionRoutesDeps &
  RotateRouteDeps &
  DeliveryRoutesDeps &
  EventListRouteDeps &
  ExplainRouteDeps &
  TrialRoutesDeps &
  RecoveryRouteDeps &
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
    createRotateRoute(deps),
    ...createTrialRoutes(deps),
    ...createEventTypeRoutes(),
    ...createDeliveryRoutes(deps),
    createEventListRoute(deps),
    createExplainRoute(deps),
    ...createRecoveryRoutes(deps),
    ...createCallRoutes(deps),
    ...createAgentRoutes(deps),
    ...createAuditRoutes(deps),
    ...(simulator === null ? [] : createSimulatorRoutes({ simulator })),
  ])
}
