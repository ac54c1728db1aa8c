import type { Subscription } from '@switchhook/contracts'
import { createHeldStore, createParkedCounter, createPullerStore, createRejectionStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { tenantsOf } from '../../config.ts'
import { feature } from '../../http/feature.ts'
import type { State } from '../../state/state.ts'
import { changeSubscription, deleteSubscription } from './change-routes.ts'
import { createDeleteUnused, watchUse } from './delete-unused.ts'
import { createHealthOf } from './endpoint-health.ts'
import { listEventTypes } from './event-type-routes.ts'
import { rotateSubscriptionSecret } from './rotate-route.ts'
import { createSubscription, listSubscriptions, readSubscription } from './subscription-routes.ts'
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
  async ({ config, redis, subscriptions: store, state, vault, log, now }: Base & { readonly state: State }) => {
    await resealSecrets({ subscriptions: store, vault, tenants: tenantsOf(config), log, nowMs: now() })
    const held = createHeldStore(redis)
    const pullers = createPullerStore(redis)
    const rejections = createRejectionStore(redis)
    const parked = createParkedCounter(redis)
    const parkedLimit = config.PARKED_LIMIT_PER_SUBSCRIPTION
    return {
      deps: {
        subscriptions: store,
        urlRules: urlRulesOf(config),
        healthOf: createHealthOf(redis),
        parkedOf: async ({ id }: Subscription) => ({ ...(await parked.count(id)), limit: parkedLimit }),
        parkedLimit,
        watchUse: (subscription: Parameters<typeof watchUse>[1]) => watchUse(state.store, subscription, now()),
        held,
        pullers,
        forgetRejected: ({ tenant, id }: Subscription) => rejections.forget({ tenant, subscriptionId: id }),
        secrets: createSubscriptionSecrets(vault),
        signatureOverlapMs: config.SIGNATURE_OVERLAP,
        now,
      },
      timers: { unused: createDeleteUnused({ subscriptions: store, pullers, held, state: state.store, log, now }) },
    }
  },
)
