import { createAgentRoutes } from './agents/agent-routes.ts'
import { createAuditRoutes } from './audit/audit-routes.ts'
import { createCallRoutes } from './calls/call-routes.ts'
import { deliveriesRoutes } from './deliveries/deliveries-feature.ts'
import type { Feature } from './feature.ts'
import type { Route } from './http/route.ts'
import { createStreamRoute } from './live/stream-route.ts'
import { withDocument } from './openapi/with-document.ts'
import { createSimulatorRoutes } from './platform/simulator/simulator-routes.ts'
import { createRecoveryRoutes } from './recoveries/recovery-routes.ts'
import { subscriptionsRoutes } from './subscriptions/subscriptions-feature.ts'
import { createTrialRoutes } from './trials/trial-routes.ts'

type WithRoutes = Pick<Feature, 'routes'>

/**
 * The features with routes. To add a route, add it to the list of its feature, such as `createCallRoutes`:
 * authentication, limits, validation, the audit log and the API document follow from the `Route`.
 */
export interface ApiFeatures {
  readonly subscriptions: WithRoutes
  readonly trials: WithRoutes
  readonly deliveries: WithRoutes
  readonly recoveries: WithRoutes
  readonly live: WithRoutes
  readonly calls: WithRoutes
  readonly agents: WithRoutes
  readonly audit: WithRoutes
  /** The platform's development routes; none in production. */
  readonly development: WithRoutes
}

/** All routes in the order of the API document, and the routes that serve the document. */
export function collectRoutes(features: ApiFeatures): readonly Route[] {
  const { subscriptions, trials, deliveries, recoveries, live, calls, agents, audit, development } = features
  const inOrder = [subscriptions, trials, deliveries, recoveries, live, calls, agents, audit, development]
  return withDocument(inOrder.flatMap(({ routes }) => routes))
}

/** The features' routes without dependencies, for the API document and for tests. Their handlers must not be called. */
export function describedFeatures(): ApiFeatures {
  const none = {} as never
  return {
    subscriptions: { routes: subscriptionsRoutes(none) },
    trials: { routes: createTrialRoutes(none) },
    deliveries: { routes: deliveriesRoutes({ delivery: none, eventList: none, explain: none, deliver: none }) },
    recoveries: { routes: createRecoveryRoutes(none) },
    live: { routes: [createStreamRoute(none)] },
    calls: { routes: createCallRoutes(none) },
    agents: { routes: createAgentRoutes(none) },
    audit: { routes: createAuditRoutes(none) },
    development: { routes: createSimulatorRoutes(none) },
  }
}
