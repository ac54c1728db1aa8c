import {
  createCoolDownHistory,
  createDeliveryCounter,
  createDeliveryPolicyStore,
  createStatisticsStore,
  createTenantParked,
} from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { createHealthOf } from '../subscriptions/endpoint-health.ts'
import { listParkedCauses } from './parked-causes-route.ts'
import { readPolicy } from './policy-route.ts'
import { readStatistics } from './statistics-route.ts'
import { readSummary } from './summary-route.ts'

/** What a person wants to see first: how all endpoints of the tenant stand, and over time. */
export const overview = feature([readSummary, listParkedCauses, readStatistics, readPolicy], (base: Base) => {
  const { config, redis } = base
  return {
    deps: {
      ...base,
      healthOf: createHealthOf(redis),
      standings: createDeliveryCounter(redis),
      parked: createTenantParked(redis),
      statistics: createStatisticsStore(redis, { subscriptions: config.STATISTICS_SUBSCRIPTIONS }),
      coolDowns: createCoolDownHistory(redis),
      policy: createDeliveryPolicyStore(redis),
    },
  }
})
