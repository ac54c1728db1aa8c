import {
  createCoolDownHistory,
  createDeliveryPolicyStore,
  createStandingReader,
  createStatisticsStore,
  createTenantParked,
} from '@switchhook/store'
import type { Base, Feature } from '../feature.ts'
import type { Route } from '../http/route.ts'
import type { SubscriptionsFeature } from '../subscriptions/subscriptions-feature.ts'
import { createParkedCausesRoute, type ParkedCausesRouteDeps } from './parked-causes-route.ts'
import { createPolicyRoute, type PolicyRouteDeps } from './policy-route.ts'
import { createStatisticsRoute, type StatisticsRouteDeps } from './statistics-route.ts'
import { createSummaryRoute, type SummaryRouteDeps } from './summary-route.ts'

/** What a person wants to see first: how all endpoints of the tenant stand, and over time. */
export const overviewRoutes = (
  deps: SummaryRouteDeps & ParkedCausesRouteDeps & PolicyRouteDeps & StatisticsRouteDeps,
): readonly Route[] => [
  createSummaryRoute(deps),
  createParkedCausesRoute(deps),
  createStatisticsRoute(deps),
  createPolicyRoute(deps),
]

export const createOverviewFeature = ({ config, redis, now }: Base, subscriptions: SubscriptionsFeature): Feature => ({
  routes: overviewRoutes({
    subscriptions: subscriptions.store,
    healthOf: subscriptions.healthOf,
    standings: createStandingReader(redis),
    parked: createTenantParked(redis),
    statistics: createStatisticsStore(redis, { subscriptions: config.STATISTICS_SUBSCRIPTIONS }),
    coolDowns: createCoolDownHistory(redis),
    policy: createDeliveryPolicyStore(redis),
    own: {
      journalMs: config.EVENT_JOURNAL_SIZE === 0 ? null : config.EVENT_JOURNAL_RETENTION,
      recoveryPerSecond: config.RECOVERY_RATE,
      egressAddresses: config.EGRESS_ADDRESSES,
    },
    now,
  }),
})
