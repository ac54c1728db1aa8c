import type { Subscription } from '@switchhook/contracts'
import {
  createBreakerReader,
  createContactStore,
  createParkedCounter,
  createSubscriptionStore,
  type SubscriptionStore,
} from '@switchhook/store'
import { tenantsOf, urlRulesOf } from '../config.ts'
import type { Base, Feature } from '../feature.ts'
import type { Route } from '../http/route.ts'
import { createEventTypeRoutes } from './event-type-routes.ts'
import { createRotateRoute, type RotateRouteDeps } from './rotate-route.ts'
import { createSubscriptionRoutes, type SubscriptionRoutesDeps } from './subscription-routes.ts'
import type { Health } from './subscription-schema.ts'
import { createSubscriptionSecrets, resealSecrets } from './subscription-secrets.ts'

export const subscriptionsRoutes = (deps: SubscriptionRoutesDeps & RotateRouteDeps): readonly Route[] => [
  ...createSubscriptionRoutes(deps),
  createRotateRoute(deps),
  ...createEventTypeRoutes(),
]

export interface SubscriptionsFeature extends Feature {
  /** Confirms the installation before it reports that there is no subscription. */
  readonly store: SubscriptionStore
  /**
   * Use it only where a missing subscription is answered with 404: it does not confirm the installation itself. The http
   * layer does, on every 404.
   */
  readonly storeFor404: Pick<SubscriptionStore, 'find'>
  readonly healthOf: (subscription: Subscription) => Promise<Health>
  /** Seals webhook secrets with the current key. Never rejects: the next start repeats what failed. */
  readonly resealSecrets: () => Promise<void>
}

export function createSubscriptionsFeature({
  config,
  redis,
  installation,
  vault,
  log,
  now,
}: Base): SubscriptionsFeature {
  const store = createSubscriptionStore(redis, installation.verify)
  const storeFor404 = createSubscriptionStore(redis)
  const breakers = createBreakerReader(redis)
  const contacts = createContactStore(redis)
  const parked = createParkedCounter(redis)
  const parkedLimit = config.PARKED_LIMIT_PER_SUBSCRIPTION

  const healthOf = async ({ tenant, id }: Subscription): Promise<Health> => {
    const endpoint = { tenant, subscriptionId: id }
    const [health, contact] = await Promise.all([breakers.health(endpoint), contacts.find(endpoint)])
    return { ...health, ...contact }
  }
  return {
    store,
    storeFor404,
    healthOf,
    resealSecrets: () => resealSecrets({ subscriptions: store, vault, tenants: tenantsOf(config), log, nowMs: now() }),
    routes: subscriptionsRoutes({
      subscriptions: {
        create: (subscription) => store.create(subscription),
        page: (tenant, query) => store.page(tenant, query),
        find: (tenant, id) => storeFor404.find(tenant, id),
        revise: (tenant, id, next) => storeFor404.revise(tenant, id, next),
        remove: (tenant, id) => storeFor404.remove(tenant, id),
      },
      urlRules: urlRulesOf(config),
      healthOf,
      parkedOf: async ({ id }) => ({ ...(await parked.count(id)), limit: parkedLimit }),
      parkedLimit,
      secrets: createSubscriptionSecrets(vault),
      signatureOverlapMs: config.SIGNATURE_OVERLAP,
      now,
    }),
  }
}
