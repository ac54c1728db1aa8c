import type { AuditLog } from '../../http/audit/audit-log.ts'
import type { Auth } from '../../http/auth/open-auth.ts'
import { feature } from '../../http/feature.ts'
import type { State } from '../../state/state.ts'
import type { WebhookParts } from '../stores.ts'
import { changeSubscription, deleteSubscription } from './change-routes.ts'
import { createDeleteUnused } from './delete-unused.ts'
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
  async (parts: WebhookParts & { readonly state: State; readonly auditLog: AuditLog; readonly auth: Auth }) => {
    await resealSecrets(parts)
    const deps = { ...parts, urlRules: urlRulesOf(parts.config), state: parts.state.store }
    return { deps, timers: { unused: createDeleteUnused(deps) } }
  },
)
