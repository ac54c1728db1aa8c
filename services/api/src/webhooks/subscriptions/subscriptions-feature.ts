import type { Subscription } from '@switchhook/contracts'
import { createParkedCounter } from '@switchhook/store'
import { feature } from '../../http/feature.ts'
import type { State } from '../../state/state.ts'
import type { WebhookParts } from '../stores.ts'
import { changeSubscription, deleteSubscription } from './change-routes.ts'
import { createDeleteUnused } from './delete-unused.ts'
import { createHealthOf } from './endpoint-health.ts'
import { listEventTypes } from './event-type-routes.ts'
import { rotateSubscriptionSecret } from './rotate-route.ts'
import { createSubscription, listSubscriptions, readSubscription } from './subscription-routes.ts'
import { resealSecrets } from './subscription-secrets.ts'
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
  async (parts: WebhookParts & { readonly state: State }) => {
    const { config, redis, rejections, state } = parts
    await resealSecrets(parts)
    const parked = createParkedCounter(redis)
    const parkedLimit = config.PARKED_LIMIT_PER_SUBSCRIPTION
    return {
      deps: {
        ...parts,
        urlRules: urlRulesOf(config),
        healthOf: createHealthOf(redis),
        parkedOf: async ({ id }: Subscription) => ({ ...(await parked.count(id)), limit: parkedLimit }),
        parkedLimit,
        state: state.store,
        forgetRejected: ({ tenant, id }: Subscription) => rejections.forget({ tenant, subscriptionId: id }),
        signatureOverlapMs: config.SIGNATURE_OVERLAP,
      },
      timers: { unused: createDeleteUnused({ ...parts, state: state.store }) },
    }
  },
)
