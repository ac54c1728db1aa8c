import type { Subscription } from '@switchhook/contracts'
import { createParkedCounter } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { tenantsOf } from '../../config.ts'
import { feature } from '../../http/feature.ts'
import { createHealthOf } from './endpoint-health.ts'
import { listEventTypes } from './event-type-routes.ts'
import { rotateSubscriptionSecret } from './rotate-route.ts'
import {
  changeSubscription,
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  readSubscription,
} from './subscription-routes.ts'
import { createSubscriptionSecrets, resealSecrets } from './subscription-secrets.ts'
import { urlRulesOf } from './webhook-url.ts'

export const subscriptions = feature(
  [
    createSubscription,
    listSubscriptions,
    readSubscription,
    changeSubscription,
    deleteSubscription,
    rotateSubscriptionSecret,
    listEventTypes,
  ],
  async ({ config, redis, subscriptions: store, vault, log, now }: Base) => {
    await resealSecrets({ subscriptions: store, vault, tenants: tenantsOf(config), log, nowMs: now() })
    const parked = createParkedCounter(redis)
    const parkedLimit = config.PARKED_LIMIT_PER_SUBSCRIPTION
    return {
      deps: {
        subscriptions: store,
        urlRules: urlRulesOf(config),
        healthOf: createHealthOf(redis),
        parkedOf: async ({ id }: Subscription) => ({ ...(await parked.count(id)), limit: parkedLimit }),
        parkedLimit,
        secrets: createSubscriptionSecrets(vault),
        signatureOverlapMs: config.SIGNATURE_OVERLAP,
        now,
      },
    }
  },
)
