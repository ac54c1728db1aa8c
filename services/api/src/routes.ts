import { createAgentRoutes } from './agents/agent-routes.ts'
import { createAuditRoutes } from './audit/audit-routes.ts'
import { createCallListRoutes } from './calls/call-list-routes.ts'
import { createCallRoutes } from './calls/call-routes.ts'
import { deliveriesRoutes } from './deliveries/deliveries-feature.ts'
import type { Feature } from './feature.ts'
import type { Route } from './http/route.ts'
import { createStreamRoute } from './live/stream-route.ts'
import { createMeRoute } from './me/me-route.ts'
import { withDocument } from './openapi/with-document.ts'
import { overviewRoutes } from './overview/overview-feature.ts'
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
  readonly overview: WithRoutes
  readonly calls: WithRoutes
  readonly agents: WithRoutes
  readonly audit: WithRoutes
  readonly me: WithRoutes
  /** The platform's development routes; none in production. */
  readonly development: WithRoutes
}

/** All routes in the order of the API document, and the routes that serve the document. */
export function collectRoutes(features: ApiFeatures): readonly Route[] {
  const { subscriptions, trials, deliveries, recoveries, live, overview, calls, agents, audit, me, development } =
    features
  const inOrder = [subscriptions, trials, deliveries, recoveries, live, overview, calls, agents, audit, me, development]
  return withDocument(inOrder.flatMap(({ routes }) => routes))
}

/** The features' routes without dependencies, for the API document and for tests. Their handlers must not be called. */
export function describedFeatures(): ApiFeatures {
  const none = {} as never
  return {
    subscriptions: { routes: subscriptionsRoutes(none) },
    trials: { routes: createTrialRoutes(none) },
    deliveries: {
      routes: deliveriesRoutes({ delivery: none, tenant: none, eventList: none, explain: none, deliver: none }),
    },
    recoveries: { routes: createRecoveryRoutes(none) },
    live: { routes: [createStreamRoute(none)] },
    overview: { routes: overviewRoutes(none) },
    calls: { routes: [...createCallRoutes(none), ...createCallListRoutes(none)] },
    agents: { routes: createAgentRoutes(none) },
    audit: { routes: createAuditRoutes(none) },
    me: { routes: [createMeRoute(none)] },
    development: { routes: createSimulatorRoutes(none) },
  }
}
